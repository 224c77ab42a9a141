// Package demo prepares the demonstration site: a configuration with simulated buildings and a
// boiler behind Modbus TCP, and the process that plays the boiler.
package demo

import (
	"bufio"
	"context"
	_ "embed" // for the site's configuration
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"voltbus/lab/modbusfarm"
)

//go:embed site.yaml
var site string

// ConfigFile is the name of the configuration in the demonstration's directory.
const ConfigFile = "voltbus.yaml"

// Site says where the demonstration lives and listens.
type Site struct {
	Dir    string // its directory; made if absent
	HTTP   string // address of the page and the API
	Bus    string // address for bus clients
	Boiler string // address of the boiler
}

// Write writes the site's configuration and the boiler's register list into its directory, and
// returns the configuration's file. What a person changed there before is written over; the data
// beside it stays.
func (s Site) Write() (string, error) {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("make the demonstration's directory: %w", err)
	}
	text := strings.NewReplacer("${HTTP}", s.HTTP, "${BUS}", s.Bus, "${BOILER}", s.Boiler, "${BEGIN}", time.Now().UTC().Format(time.RFC3339)).Replace(site)
	file := filepath.Join(s.Dir, ConfigFile)
	for name, content := range map[string][]byte{
		file: []byte(text), filepath.Join(s.Dir, "boiler.csv"): modbusfarm.Registry,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", fmt.Errorf("write the demonstration's files: %w", err)
		}
	}
	return file, nil
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
