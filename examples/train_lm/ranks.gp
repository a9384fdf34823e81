# SPDX-License-Identifier: Apache-2.0
# Draws the losses of one process and of several ranks on one another, and their differences below.
# gnuplot -e "ranks = 2; one = 'A/losses.csv'; shared = 'B/losses.csv'; picture = 'curves.png'"
set terminal pngcairo size 900,700 font 'sans,11'
set output picture
set datafile separator comma
set multiplot layout 2,1
set grid
set key top right
set ylabel 'bits per character'
set title 'Training loss on one process and on several ranks'
plot one skip 1 using 1:2 with lines lw 5 lc rgb '#9ecae1' title 'one process', \
     shared skip 1 using 1:2 with lines lw 1.5 lc rgb '#08306b' \
       title sprintf('%d ranks share each window', ranks)
set title 'Difference'
set ylabel 'bits per character'
set xlabel 'step'
set logscale y
set format y '10^{%L}'
difference(a, b) = abs(a - b) > 0 ? abs(a - b) : NaN
plot '< paste -d, '.one.' '.shared skip 1 using 1:(difference($2, $5)) with points pt 7 ps 0.5 \
       lc rgb '#08306b' notitle
unset multiplot
