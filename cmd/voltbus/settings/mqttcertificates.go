package settings

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"voltbus/api/client"
	"voltbus/broker/account"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation/mqtt"
)

// certifyList issues certificates for devices, part by part, and writes them into a folder with their keys; "" does nothing.
func certifyList(ctx context.Context, s shell.Session, folder string, list []account.NewDevice) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for part := range slices.Chunk(list, mqtt.MostCertificates) {
		names := make([]string, len(part))
		for i := range part {
			names[i] = part[i].Name
		}
		made, err := client.Do(ctx, s.Client, mqtt.CertifyAll, mqtt.Names{Devices: names})
		if err != nil {
			return err
		}
		files := map[string]string{}
		for _, d := range made.Devices {
			files["ca.pem"], files[d.Name+".pem"], files[d.Name+".key"] = d.Authority, d.Certificate, d.Key
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
