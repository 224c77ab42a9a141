package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is what "go test -json" writes in a line (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
}

// failure is a package that failed.
type failure struct {
	pkg string
	// tests failed, or had not ended when the package did.
	tests  []string
	passed map[string]bool
}

// read returns the packages that failed, in the order of their names.
func read(from io.Reader) ([]failure, error) {
	packages := map[string]*record{}
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := lines.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			var each event
			if err := json.Unmarshal([]byte(line), &each); err != nil {
				return nil, fmt.Errorf("line %d is not an event of go test -json: %w", number, err)
			}
			if packages[each.Package] == nil {
				packages[each.Package] = &record{ended: map[string]string{}}
			}
			packages[each.Package].take(each)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	var failures []failure
	for name, each := range packages {
		if each.failed {
			failures = append(failures, each.failure(name))
		}
	}
	slices.SortFunc(failures, func(a, b failure) int { return strings.Compare(a.pkg, b.pkg) })
	return failures, nil
}

// record is what is known of a package: its outermost tests with the last action of each.
type record struct {
	ended  map[string]string
	failed bool
}

func (r *record) take(each event) {
	switch {
	case each.Test == "":
		r.failed = r.failed || each.Action == "fail"
	case strings.Contains(each.Test, "/"):
	case each.Action == "run", each.Action == "pass", each.Action == "skip", each.Action == "fail":
		r.ended[each.Test] = each.Action
	}
}

func (r *record) failure(pkg string) failure {
	f := failure{pkg: pkg, passed: map[string]bool{}}
	for name, action := range r.ended {
		if action == "pass" || action == "skip" {
			f.passed[name] = true
		} else {
			f.tests = append(f.tests, name)
		}
	}
	slices.Sort(f.tests)
	return f
}

// notPassed is those of all tests of the package that failed, did not end or did not run.
func (f failure) notPassed(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return f.passed[name] })
}
