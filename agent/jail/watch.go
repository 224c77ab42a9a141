package jail

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// WatchTime is how long process groups live without a word of who starts them.
const WatchTime = time.Second

// watch reads lines with the process groups that may run, and kills those of the last one when none has come for WatchTime, or the input ends.
// So they end in time also while the process that started them is stopped. A group with a minus may not run any more, and is killed at once.
func watch(from io.Reader, kill func(group int)) {
	lines := make(chan []int)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(from)
		for in.Scan() {
			lines <- numbers(in.Text())
		}
	}()
	var groups []int
	end := func() {
		for _, g := range groups {
			kill(g)
		}
		groups = nil
	}
	timer := time.NewTimer(WatchTime)
	defer timer.Stop()
	for {
		select {
		case list, open := <-lines:
			if !open {
				end()
				return
			}
			groups = slices.DeleteFunc(list, func(g int) bool {
				if g < 0 {
					kill(-g)
				}
				return g < 0
			})
			timer.Reset(WatchTime)
		case <-timer.C:
			end()
		}
	}
}

// numbers returns the process groups of a line; 0, 1 and -1 would be others than the agents'.
func numbers(line string) (groups []int) {
	for word := range strings.FieldsSeq(line) {
		if n, err := strconv.Atoi(word); err == nil && (n > 1 || n < -1) {
			groups = append(groups, n)
		}
	}
	return groups
}

// watchInput is watch over the standard input; it ends the process.
func watchInput() {
	watch(os.Stdin, func(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }) // it may have ended
	os.Exit(0)
}
