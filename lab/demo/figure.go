package demo

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/children"
	"voltbus/operation/mqtt"
	"voltbus/operation/parent"
)

//go:embed figure/*.yaml
var figures embed.FS

// Member is a node of the figure: a campus, its building, and two zones of it.
type Member struct {
	Name   string
	Parent string // "" for the campus
	Prefix string // where its points lie at the parent
	text   string // the file with its configuration
}

// Members lists the nodes of the figure, parents first.
func Members() []Member {
	return []Member{
		{"campus", "", "", "campus.yaml"},
		{"building", "campus", "building", "building.yaml"},
		{"zone-1", "building", "zone-1", "zone.yaml"},
		{"zone-2", "building", "zone-2", "zone.yaml"},
	}
}

// Application is the account of the application outside.
const Application = "forecast"

// Figure says where the nodes of the figure live, and where the campus listens.
type Figure struct {
	Dir             string
	HTTP, Bus, MQTT string // other ports are taken where these are in use; the other nodes have any
}

// File returns the configuration file of a node.
func (f Figure) File(m *Member) string { return filepath.Join(f.Dir, m.Name, ConfigFile) }

// Account returns the file with which the application outside finds the broker.
func (f Figure) Account() string { return filepath.Join(f.Dir, Application+".json") }

// Write writes the configurations that are not there yet, with ports that are free now.
func (f Figure) Write(ctx context.Context) error {
	const anywhere = "127.0.0.1:0"
	for _, m := range Members() {
		file := f.File(&m)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		at := Figure{HTTP: anywhere, Bus: anywhere, MQTT: anywhere}
		if m.Parent == "" {
			at = f
		}
		text, err := figures.ReadFile("figure/" + m.text)
		if err != nil {
			return fmt.Errorf("read the figure's configuration: %w", err)
		}
		values := []string{"${NAME}", m.Name}
		for name, address := range map[string]string{"${HTTP}": at.HTTP, "${BUS}": at.Bus, "${MQTT}": at.MQTT} {
			free, err := freePortAt(ctx, address)
			if err != nil {
				return err
			}
			values = append(values, name, free)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("make the folder of the figure: %w", err)
		}
		if err := os.WriteFile(file, []byte(strings.NewReplacer(values...).Replace(string(text))), 0o600); err != nil {
			return fmt.Errorf("write the figure's configuration: %w", err)
		}
	}
	return nil
}

// freePortAt returns the address, or one with another port if it is in use.
func freePortAt(ctx context.Context, address string) (string, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		host, _, wrong := net.SplitHostPort(address)
		if wrong != nil {
			return "", fault.E("demo", fault.Invalid, address, wrong)
		}
		if l, err = listen.Listen(ctx, "tcp", net.JoinHostPort(host, "0")); err != nil {
			return "", fault.E("demo", fault.Unreachable, address, err)
		}
	}
	free := l.Addr().String()
	return free, l.Close()
}

// Join makes a node the child of another one, unless it is one already.
func (m *Member) Join(ctx context.Context, above, below *client.Client) error {
	now, err := client.Do(ctx, below, parent.Get, struct{}{})
	if err != nil || now.Member {
		return err
	}
	invited, err := client.Do(ctx, above, children.Invite, client.NewInvitation{Name: m.Name, Approved: true, Prefix: m.Prefix}.Arguments())
	if err == nil {
		_, err = client.Do(ctx, below, parent.Join, parent.Code{Code: invited.Code})
	}
	return err
}

// account is what the application outside is given: nothing else of the campus.
type account struct {
	Host   string `json:"host"`
	Port   string `json:"port"`
	User   string `json:"user"`
	Secret string `json:"secret"`
}

// Admit gives the application outside an account of the broker of the campus, which listens at an address, and writes it to its file. A
// secret that was given before is replaced if the file is gone.
func (f Figure) Admit(ctx context.Context, campus *client.Client, broker string) error {
	if _, err := os.Stat(f.Account()); err == nil {
		return nil
	}
	given, err := client.Do(ctx, campus, mqtt.Add, mqtt.NewDevice{Name: Application, Kind: "application"})
	if fault.Is(err, fault.Conflict) {
		given, err = client.Do(ctx, campus, mqtt.Rotate, mqtt.Device{Device: Application})
	}
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(broker)
	if err != nil {
		return fault.E("demo", fault.Invalid, broker, err)
	}
	text, err := json.MarshalIndent(account{host, port, given.Name, given.Secret}, "", "  ")
	if err == nil {
		err = os.WriteFile(f.Account(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the account of the application: %w", err)
	}
	return nil
}
