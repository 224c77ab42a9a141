// Package demo prepares the demonstration site: a configuration with simulated buildings and a boiler behind Modbus TCP, and the process
// that simulates the boiler.
package demo

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // for the site's configuration
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/modbusfarm"
)

var (
	//go:embed voltbus.yaml
	settings string
	//go:embed site.yaml
	site string
)

// ConfigFile is the name of the configuration in the demonstration's directory. It is kept; siteFile, which it
// includes, is written at each start.
const (
	ConfigFile = "voltbus.yaml"
	siteFile   = "site.yaml"
)

// writtenOver stands in the files of versions that put everything into ConfigFile, at each start.
const writtenOver = `"voltbus demo" writes this file at each start.`

// Site says where the demonstration lives and listens.
type Site struct {
	Dir    string // its directory; made if absent
	HTTP   string // address of the page and the API
	Bus    string // address for bus clients
	Boiler string // address of the boiler
}

// Write writes the devices of the site and the boiler's register list into the directory, and returns the
// configuration's file, which is made if it is absent. Of one that is there only the addresses of the page and
// the bus are changed: devices that a person added stay, and so does the data beside it.
func (s Site) Write() (string, error) {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("make the demonstration's directory: %w", err)
	}
	file := filepath.Join(s.Dir, ConfigFile)
	text, err := s.settings(file)
	if err != nil {
		return "", err
	}
	devices := strings.NewReplacer("${BOILER}", s.Boiler, "${BEGIN}", time.Now().UTC().Format(time.RFC3339)).Replace(site)
	for name, content := range map[string][]byte{
		file: text, filepath.Join(s.Dir, siteFile): []byte(devices), filepath.Join(s.Dir, "boiler.csv"): modbusfarm.Registry,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", fmt.Errorf("write the demonstration's files: %w", err)
		}
	}
	return file, nil
}

// settings returns what is to stand in the configuration's file.
func (s Site) settings(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && bytes.Contains(text, []byte(writtenOver))) {
		return []byte(strings.NewReplacer("${HTTP}", s.HTTP, "${BUS}", s.Bus).Replace(settings)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the demonstration's settings: %w", err)
	}
	for key, address := range map[string]string{"http": s.HTTP, "bus": s.Bus} {
		line := regexp.MustCompile(`(?m)^(listen:[ \t]*\r?\n(?:[ \t]+.*\n)*?[ \t]+` + key + `:)[^\r\n]*`)
		if !line.Match(text) {
			return nil, fault.E("demo", fault.Invalid, file, fmt.Errorf(
				`has no line "%s:" below "listen:", where the demonstration writes its address; add it, or remove the file to begin anew`, key))
		}
		text = line.ReplaceAll(text, []byte("${1} "+address))
	}
	return text, nil
}

// ready is what the boiler's process prints before its address.
const ready = "boiler listens at "

// ServeBoiler plays the boiler in this process until ctx ends or input is closed, which is how it
// ends with the process that started it. It prints its address to out.
func ServeBoiler(ctx context.Context, input io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	return modbusfarm.Serve(ctx, "127.0.0.1:0", modbusfarm.Config{
		Units: 2, Seed: 1, Ready: func(address string) { fmt.Fprintln(out, ready+address) },
	})
}

// Boiler is the process that plays the boiler.
type Boiler struct {
	Address string
	process *exec.Cmd
	input   io.Closer
}

var errBoiler = errors.New("the process that plays the boiler did not start")

// StartBoiler starts the command, which runs ServeBoiler, and waits until it listens.
func StartBoiler(command *exec.Cmd) (*Boiler, error) {
	input, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the boiler: %w", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the boiler: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the boiler: %w", err)
	}
	b := &Boiler{process: command, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), ready)
	if err != nil || !found {
		return nil, errors.Join(errBoiler, b.Stop())
	}
	b.Address = address
	return b, nil
}

// Process returns the number of the process.
func (b *Boiler) Process() int { return b.process.Process.Pid }

// Stop ends the process and waits for it.
func (b *Boiler) Stop() error {
	err := b.input.Close()
	if waited := b.process.Wait(); waited != nil {
		return fmt.Errorf("end the boiler: %w", waited)
	}
	return err
}
