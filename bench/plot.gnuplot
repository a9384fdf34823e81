# SPDX-License-Identifier: Apache-2.0
# Draws what rotate_report wrote into `folder`: gnuplot -e "folder='out/bench'" bench/plot.gnuplot
#
#   ratios_<scalar>.svg, .png    every implementation against memcpy, by shape, split-half and interleaved pairs
#   targets.svg, .png            each target: what was measured over what is allowed

if (!exists("folder")) folder = 'out/bench'
exists_file(name) = int(system(sprintf("test -s '%s' && echo 1 || echo 0", name)))
formats = 'svg png'
set encoding utf8

# The implementations of plot_data.cpp, in the order of its columns: the library in blues, what one has without it in greys and reds.
array colour[8] = ['#08519c', '#3182bd', '#9ecae1', '#31a354', '#737373', '#bdbdbd', '#fdae6b', '#e6550d']
columns = 8
width = 0.105
left(i) = (i - 1 - columns / 2.0) * width

do for [scalar in 'f32 f64 f16 bf16'] {
  data(pairing) = sprintf('%s/plot_%s_%s.dat', folder, scalar, pairing)
  if (exists_file(data('split_half')) || exists_file(data('interleaved'))) {
    do for [format in formats] {
      if (format eq 'svg') { set terminal svg size 1000,760 font 'sans,13' background '#ffffff' } else { set terminal pngcairo size 1500,1140 font 'sans,20' }
      set output sprintf('%s/ratios_%s.%s', folder, scalar, format)
      set multiplot layout 2,1 margins 0.10,0.985,0.095,0.845 spacing 0,0.115
      set logscale y
      set yrange [0.2:2000]
      set ytics (0.25, 0.5, 1, 2, 5, 10, 100, 1000)
      set grid ytics lc rgb '#e0e0e0' lw 1
      set xrange [-0.5:4.5]
      set style fill solid 1.0 noborder
      set border 3
      set tics nomirror
      set xtics ('1 token' 0, '16 tokens' 1, '512 tokens' 2, '4096 tokens' 3, '512, 32 of 80' 4) scale 0
      set key at screen 0.52,0.995 center top vertical maxrows 3 Left reverse samplen 1.2 width 0
      do for [pairing in 'split_half interleaved'] {
        set title sprintf('%s, %s pairs', scalar, pairing) offset 0,-0.7
        set ylabel 'times over memcpy' offset 0.8,0
        set xlabel (pairing eq 'interleaved' ? 'shape: 32 heads of 128, or of 80 of which 32 are rotated' : '')
        if (exists_file(data(pairing))) {
          # Bars stand on 1, the time of memcpy: upwards is slower than copying, downwards faster.
          plot for [i = 1:columns] data(pairing) skip 1 \
                 using ($0 + left(i)):(1):($0 + left(i)):($0 + left(i) + 0.9 * width):(column(i + 1) < 1 ? column(i + 1) : 1):(column(i + 1) > 1 ? column(i + 1) : 1) \
                 with boxxyerror lc rgb colour[i] title (pairing eq 'split_half' ? system(sprintf("head -n 1 '%s' | cut -d '\"' -f %d", data(pairing), 2 * i + 2)) : ''), \
               1 with lines lc rgb '#000000' lw 1.5 title (pairing eq 'split_half' ? 'memcpy' : '')
        } else { set multiplot next }
      }
      unset multiplot
      unset output
    }
  }
}

reset
file = folder.'/targets.dat'
if (exists_file(file)) {
  stats file using 2 nooutput
  rows = STATS_records
  do for [format in formats] {
    if (format eq 'svg') { set terminal svg size 1000,(110 + 24 * rows) font 'sans,13' background '#ffffff' } else { set terminal pngcairo size 1500,(165 + 36 * rows) font 'sans,20' }
    set output sprintf('%s/targets.%s', folder, format)
    set title 'Targets: best and worst scalar, pairing and shape' offset -12,0
    set xlabel 'measured / allowed (less is better)'
    set logscale x
    set xrange [0.2:5]
    set xtics (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5)
    set yrange [rows - 0.4:-0.6]
    set grid x lc rgb '#e0e0e0'
    set border 3
    set tics nomirror
    set lmargin at screen 0.47
    set rmargin at screen 0.97
    set key off
    set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb '#000000' lw 1.5
    clip(v) = v < 0.2 ? 0.2 : v > 5 ? 5 : v
    hue(v) = v > 1 ? 0xd7301f : 0x238b45
    plot file using (clip($2)):0:(clip($3) - clip($2)):(0):(hue($3)) with vectors nohead lw 4 lc rgb variable, \
         file using (clip($2)):0:(hue($2)):ytic(1) with points pt 7 ps 0.9 lc rgb variable, \
         file using (clip($3)):0:(hue($3)) with points pt 7 ps 0.9 lc rgb variable
    unset output
  }
}
