# SPDX-License-Identifier: Apache-2.0
# Draws what growth_bench wrote into `folder`: gnuplot -e "folder='out/bench'" bench/growth.gnuplot
#
#   growth.svg, .png    time for each KiB read and written, by tokens, head size and heads

if (!exists("folder")) folder = 'out/bench'
set encoding utf8
array colour[5] = ['#08519c', '#e6550d', '#969696', '#31a354', '#756bb1']
curves(varies) = varies eq 'head_size' ? 5 : 2
data(varies) = sprintf('%s/growth_%s.dat', folder, varies)

do for [format in 'svg png'] {
  if (format eq 'svg') { set terminal svg size 1000,900 font 'sans,13' background '#ffffff' } else { set terminal pngcairo size 1500,1350 font 'sans,20' }
  keyfont = format eq 'svg' ? ',11' : ',16'
  set output sprintf('%s/growth.%s', folder, format)
  set multiplot layout 3,1 margins 0.085,0.985,0.065,0.95 spacing 0,0.13
  set border 3
  set tics nomirror
  set grid lc rgb '#e0e0e0' lw 1
  set logscale x 2
  set logscale y 2
  set format y '%g'
  set ylabel 'ns per KiB' offset 1,0
  set key at graph 1,1.22 right top horizontal Left reverse samplen 1.5 maxrows 2 font keyfont
  do for [varies in 'tokens head_size heads'] {
    if (varies eq 'tokens') { set xlabel 'tokens' offset 0,0.6; set xrange [0.9:4800000]; set xtics ('1' 1, '16' 16, '256' 256, '4 Ki' 4096, '64 Ki' 65536, '1 Mi' 1048576, '4 Mi' 4194304) }
    if (varies eq 'head_size') { set xlabel 'elements of a head' offset 0,0.6; set xrange [30:1100]; set xtics (32, 64, 128, 256, 512, 1024) }
    if (varies eq 'heads') { set xlabel 'heads' offset 0,0.6; set xrange [0.95:135]; set xtics (1, 2, 4, 8, 16, 32, 64, 128) }
    set autoscale y
    plot for [i = 0:curves(varies) - 1] data(varies) index i using 1:2 with linespoints lc rgb colour[i + 1] lw 1.5 pt 7 ps 0.4 title columnheader(1)
  }
  unset multiplot
  unset output
}
