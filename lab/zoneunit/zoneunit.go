// Package zoneunit compiles a small building as a Functional Mock-up Unit for co-simulation, of FMI 2.0 or 3.0.
//
// The unit is a zone of one heat capacity with a unit that cools it. Its inputs are outdoor (°C) and on (0 to 1), its outputs temp (°C) and
// power (kW), and its parameters capacity (kWh/K), resistance (K/kW) and fault: 1 crashes an hour after the start, 2 diverges, 3 fails.
package zoneunit

import (
	"archive/zip"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"voltbus/fault"
)

//go:embed source
var source embed.FS

// Build compiles the unit of a version of FMI, 2 or 3, into a folder, for Linux on this kind of processor. It returns the file. It fails with
// fault.Unavailable without a compiler for C.
func Build(ctx context.Context, dir string, version int) (file string, err error) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return "", fault.E("zoneunit.Build", fault.Unavailable, "cc", errors.New("there is no compiler for C; install gcc"))
	}
	work, err := os.MkdirTemp(dir, "unit")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.CopyFS(work, source); err != nil {
		return "", err
	}
	library := filepath.Join(work, "zone.so")
	code := filepath.Join(work, "source", fmt.Sprintf("zone%d.c", version))
	cmd := exec.CommandContext(ctx, compiler, "-shared", "-fPIC", "-O2", "-o", library, code, "-lm") //nolint:gosec // the compiler of this machine
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fault.E("zoneunit.Build", fault.Internal, code, fmt.Errorf("%w: %s", err, out))
	}
	packed, err := pack(work, version)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, fmt.Sprintf("zone%d.fmu", version))
	return file, os.WriteFile(file, packed, 0o600)
}

// pack makes the archive.
func pack(work string, version int) ([]byte, error) {
	folder := "binaries/linux64/" // of FMI 2
	if version == 3 {
		folder = "binaries/x86_64-linux/"
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, f := range [][2]string{
		{"modelDescription.xml", filepath.Join("source", fmt.Sprintf("zone%d.xml", version))},
		{folder + "zone.so", "zone.so"},
	} {
		content, err := os.ReadFile(filepath.Join(work, f[1])) //nolint:gosec // made here
		if err != nil {
			return nil, err
		}
		w, err := z.Create(f[0])
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return packed.Bytes(), err
}
