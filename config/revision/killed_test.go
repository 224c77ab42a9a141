package revision_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/config/revision"
	"voltbus/internal/atomicfile"
)

// killedEnv makes the test binary the process that is killed: "folder|step".
const killedEnv = "VOLTBUS_TEST_STEP"

const (
	textBefore = "node: {name: a}\n"
	textOnTry  = "node: {name: a}\ndevices: {}\n"
)

func TestMain(m *testing.M) {
	if arguments := os.Getenv(killedEnv); arguments != "" {
		killedChild(arguments)
		return
	}
	os.Exit(m.Run())
}

// killedChild tries a configuration, and confirms it; before one of the steps of writing a file it is killed.
func killedChild(arguments string) {
	dir, text, _ := strings.Cut(arguments, "|")
	step, err := strconv.Atoi(text)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	die := func() error {
		if step--; step == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it is
		}
		return nil
	}
	f := revision.New(revision.Options{
		Name: filepath.Join(dir, "voltbus.yaml"), Dir: filepath.Join(dir, "history"),
		Writer: atomicfile.Writer{Before: func(atomicfile.Step) error { return die() }},
	})
	err = f.Try([]byte(textOnTry), revision.VersionOf([]byte(textBefore)), "ada", time.Minute, die)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("tried")
	_ = die()
	if err := f.Confirm(revision.VersionOf([]byte(textOnTry))); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("confirmed")
}

func TestAProcessKilledAtAnyStepOfATrialStartsWithTheTextBeforeOrTheConfirmedOne(t *testing.T) {
	const most = 100
	told := map[string]int{} // what was said → texts that stood there afterwards
	for step := 1; ; step++ {
		if step == most {
			t.Fatalf("it is still killed in step %d", step)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "voltbus.yaml")
		if err := os.WriteFile(file, []byte(textBefore), 0o600); err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), killedEnv+"="+dir+"|"+strconv.Itoa(step))
		out, err := child.Output()
		said := string(out)
		if strings.Contains(said, "error") {
			t.Fatalf("step %d: %s", step, said)
		}
		back, recoverErr := revision.Recover(file)
		text, readErr := os.ReadFile(file)
		if recoverErr != nil || readErr != nil {
			t.Fatalf("step %d: %v, %v", step, recoverErr, readErr)
		}
		switch string(text) {
		case textBefore:
			told[said+"before"]++
			if strings.Contains(said, "confirmed") {
				t.Errorf("step %d: it was confirmed, and is gone", step)
			}
			if strings.Contains(said, "tried") && back == nil {
				t.Errorf("step %d: nobody says that it went back", step)
			}
		case textOnTry:
			told[said+"on trial"]++
			if !strings.Contains(said, "tried") || back != nil {
				t.Errorf("step %d: %q was said, and what was tried stays; back: %+v", step, said, back)
			}
		default:
			t.Errorf("step %d: the file holds %q", step, text)
		}
		if again, err := revision.Recover(file); again != nil || err != nil {
			t.Errorf("step %d: the second start: %+v, %v", step, again, err)
		}
		if err == nil { // it came to its end
			break
		}
	}
	for _, stage := range []string{"before", "tried\nbefore", "tried\non trial", "tried\nconfirmed\non trial"} {
		if told[stage] == 0 {
			t.Errorf("it was never killed at the stage %q: %v", stage, told)
		}
	}
}
