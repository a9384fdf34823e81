# SPDX-License-Identifier: Apache-2.0
# gnuplot -c peers.gnuplot FOLDER_OF_DATA OUTPUT TERMINAL PEERS RECORDED
# float above, float16 below. Bars begin at memcpy's time: upwards slower, downwards faster. Each
# peer has two, split-half and interleaved pairs. PEERS is how many there are; RECORDED lists the
# numbers, from 1, of those whose figures are of another run: they are hatched.
folder = ARG1
set output ARG2
if (ARG3 eq "svg") {
  set terminal svg size 960,640 font "DejaVu Sans,13" background "white"
  left_margin = 0.085
} else {
  set terminal pngcairo size 1440,960 font "DejaVu Sans,13" fontscale 1.35 linewidth 1.4 background "white"
  left_margin = 0.1
}
peers = int(ARG4)
is_recorded(peer) = strstrt(ARG5, sprintf("%d", peer)) > 0
set encoding utf8
set datafile missing "?"
set datafile columnheaders
array dark[7] = ["#1b6ca8", "#e08a1e", "#8e2f5c", "#c9679b", "#2f7d4f", "#a8772b", "#6b7280"]
array light[7] = ["#7db4dd", "#f3c58a", "#c58aa6", "#e6b5cf", "#8fc3a5", "#d9bd8a", "#b4b9c1"]
width = 0.42 / peers
left(shape, bar) = shape + (bar - peers) * width
height(bar, shown) = shown && valid(bar) ? column(bar) : 1
right(shape, bar) = left(shape, bar) + width * (int(bar) % 2 ? 0.82 : 0.94)

set logscale y
set border 2 lc rgb "#444444"
set tics nomirror out scale 0.4
set xtics scale 0
set ytics ("0.2" 0.2, "0.5" 0.5, "memcpy" 1, "2" 2, "5" 5, "10" 10, "20" 20, "50" 50, "100" 100, "200" 200, "500" 500, "1000" 1000, "2000" 2000, "5000" 5000)
set grid y lc rgb "#dddddd" lw 0.6
set style fill solid 1.0 noborder
set multiplot layout 2,1 margins left_margin,0.99,0.05,0.865 spacing 0.09
set label 1 "times over memcpy; dark: split-half pairs, light: interleaved pairs" at screen 0.53,0.885 center font ",11.5" textcolor rgb "#444444"

do for [panel = 1:2] {
  file = folder . (panel == 1 ? "/plot_f32.dat" : "/plot_f16.dat")
  stats file using 2 nooutput
  set xrange [-0.5:STATS_records - 0.5]
  set yrange [0.4:(panel == 1 ? 5000 : 10000)]
  if (panel == 1) {
    set key at screen 0.53,0.995 center top horizontal maxcols 4 samplen 1.2 width -1 noautotitle reverse Left
  } else {
    unset key
    unset label 1
  }
  set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#222222" lw 1.2 front
  set for [shape = 1:9] arrow 10 + shape from first shape - 0.5, graph 0 to first shape - 0.5, graph 1 nohead lc rgb "#dddddd" lw 0.6 back
  set label 2 (panel == 1 ? "float" : "float16") at graph 0.99, graph 0.93 right font ":Bold"
  plot for [i = 1:peers] for [k = 0:1] file \
         using (0):(1):(left($0, 2 * i - 2 + k)):(right($0, 2 * i - 2 + k)):(1):(height(2 * i + k, !is_recorded(i))) \
         with boxxyerror lc rgb (k ? light[i] : dark[i]) title (k || is_recorded(i) ? "" : columnheader(2 * i)), \
       for [i = 1:peers] for [k = 0:1] file \
         using (0):(1):(left($0, 2 * i - 2 + k)):(right($0, 2 * i - 2 + k)):(1):(height(2 * i + k, is_recorded(i))) \
         with boxxyerror fs pattern 4 lc rgb (k ? light[i] : dark[i]) title (k || !is_recorded(i) ? "" : columnheader(2 * i)), \
       file using 0:(NaN):xtic(1) with points notitle
}
unset multiplot
