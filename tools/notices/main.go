// Command notices writes the licences of what the program holds, and its bills of materials (SPDX 2.3, CycloneDX 1.6), from the module
// cache, node_modules and the Python environment: no network is needed. Run it in the folder tools.
//
//	go run ./notices
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// part is something by others that the program holds or installs.
type part struct {
	kind, name, version string // kind: golang, npm, pypi
	licence             string // SPDX identifier
	text                string
}

func (p *part) purl() string { return fmt.Sprintf("pkg:%s/%s@%s", p.kind, p.name, p.version) }

func main() {
	if err := write(".."); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	var parts []part
	for _, list := range []func(string) ([]part, error){modules, packages, wheels, fonts} {
		found, err := list(root)
		if err != nil {
			return err
		}
		parts = append(parts, found...)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.purl(), b.purl()) })
	for i := range parts {
		if parts[i].licence = licenceOf(parts[i].text); parts[i].licence == "" {
			return fmt.Errorf("%s: its licence is none that is known here; look at it, and add it to licenceOf", parts[i].purl())
		}
	}
	spdx, err := spdxOf(parts)
	if err != nil {
		return err
	}
	cyclone, err := cycloneOf(parts)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "cmd", "voltbus", "notices")
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "THIRD_PARTY_NOTICES"), noticesOf(parts), 0o644),
		os.WriteFile(filepath.Join(dir, "sbom.spdx.json"), spdx, 0o644),
		os.WriteFile(filepath.Join(dir, "sbom.cdx.json"), cyclone, 0o644),
	)
}

// modules lists the Go modules in the program, and the standard library.
func modules(root string) ([]part, error) {
	seen := map[string]bool{}
	var parts []part
	for _, arch := range []string{"amd64", "arm64"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/voltbus")
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=1")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list the modules: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) != 3 || seen[f[0]] {
				continue
			}
			seen[f[0]] = true
			text, err := texts(f[2])
			if err != nil {
				return nil, err
			}
			parts = append(parts, part{kind: "golang", name: f[0], version: f[1], text: text})
		}
	}
	text, err := texts(runtime.GOROOT())
	return append(parts, part{kind: "golang", name: "std", version: strings.TrimPrefix(runtime.Version(), "go"), text: text}), err
}

// packages lists what the page is made of.
func packages(root string) ([]part, error) {
	var page struct{ Dependencies map[string]string }
	if err := readJSON(filepath.Join(root, "web", "package.json"), &page); err != nil {
		return nil, err
	}
	var parts []part
	for name, version := range page.Dependencies {
		text, err := texts(filepath.Join(root, "web", "node_modules", name))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{kind: "npm", name: name, version: version, text: text})
	}
	return parts, nil
}

var (
	dependency = regexp.MustCompile(`(?m)^dependencies = \[(.*)\]`)
	named      = regexp.MustCompile(`"([A-Za-z0-9._-]+)`)
)

// wheels lists what the SDK for Python, which the program carries, needs.
func wheels(root string) ([]part, error) {
	project, err := os.ReadFile(filepath.Join(root, "python", "pyproject.toml"))
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, list := range dependency.FindAllSubmatch(project, 1) {
		for _, name := range named.FindAllSubmatch(list[1], -1) {
			found, err := filepath.Glob(filepath.Join(root, ".venv", "lib", "python3*", "site-packages", string(name[1])+"-*.dist-info"))
			if err != nil || len(found) == 0 {
				return nil, fmt.Errorf("%s is not installed in .venv; run make there first (%w)", name[1], errors.Join(err, os.ErrNotExist))
			}
			_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), ".dist-info"), "-")
			text, err := texts(filepath.Join(found[0], "licenses"))
			if err != nil {
				return nil, err
			}
			parts = append(parts, part{kind: "pypi", name: string(name[1]), version: version, text: text})
		}
	}
	return parts, nil
}

// fonts lists the fonts of the reports that the program prints.
func fonts(root string) ([]part, error) {
	text, err := texts(filepath.Join(root, "report", "pdf", "font"))
	return []part{{kind: "generic", name: "dejavu-fonts", version: "2.37", text: text}}, err
}

var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|edl-v10)(\.(md|txt))?$`)

// texts returns the licence and the notices of a folder.
func texts(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, f := range files {
		if f.IsDir() || !legal.MatchString(f.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		all.WriteString(strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n")) + "\n")
	}
	if all.Len() == 0 {
		return "", fmt.Errorf("%s holds no licence", dir)
	}
	return all.String(), nil
}

// licenceOf names a licence by sentences that only it has; "" if it is unknown.
func licenceOf(text string) string {
	plain := strings.Join(strings.Fields(text), " ")
	has := func(sentence string) bool { return strings.Contains(plain, sentence) }
	var ids []string
	for _, l := range []struct {
		id string
		is bool
	}{
		{"Apache-2.0", has("Apache License Version 2.0") || has("Apache License, Version 2.0")},
		{"MPL-2.0", has("Mozilla Public License Version 2.0") || has("Mozilla Public License, version 2.0")},
		{"EPL-2.0 OR BSD-3-Clause", has("Eclipse Public License") && has("Eclipse Distribution License")},
		{"EPL-2.0", has("Eclipse Public License - v 2.0") && !has("Eclipse Distribution License")},
		{"Bitstream-Vera", has("Bitstream Vera Fonts Copyright")},
		{"MIT", has("Permission is hereby granted, free of charge") && !has("Bitstream Vera Fonts Copyright")},
		{"ISC", has("Permission to use, copy, modify, and/or distribute this software") || has("Permission to use, copy, modify, and distribute this software")},
		{"BSD-3-Clause", has("Redistribution and use in source and binary forms") && (has("Neither the name") || has("may not be used to endorse") || has("The name of the author") || has("The names of its contributors"))},
		{"BSD-2-Clause", has("Redistribution and use in source and binary forms") && !has("Neither the name") && !has("may not be used to endorse")},
		{"Unlicense", has("This is free and unencumbered software released into the public domain")},
	} {
		if l.is {
			ids = append(ids, l.id)
		}
	}
	return strings.Join(ids, " AND ")
}

func noticesOf(parts []part) []byte {
	var out bytes.Buffer
	out.WriteString("Voltbus holds the following software by others, under the licences below.\n")
	by := map[string][]*part{}
	var order []string
	for i := range parts {
		p := &parts[i]
		if by[p.text] == nil {
			order = append(order, p.text)
		}
		by[p.text] = append(by[p.text], p)
	}
	for _, text := range order {
		out.WriteString("\n" + strings.Repeat("=", 100) + "\n")
		for _, p := range by[text] {
			fmt.Fprintf(&out, "%s %s (%s, %s)\n", p.name, p.version, p.kind, p.licence)
		}
		out.WriteString(strings.Repeat("-", 100) + "\n" + text)
	}
	return out.Bytes()
}

func readJSON(file string, into any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}
