package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// namedFile is a file named in a section.
type namedFile struct {
	key    string
	file   *string
	secret bool
}

// namedFiles returns the files named in sections.
func namedFiles(cfg *Config) []namedFile {
	list := append(cfg.Store.files(), namedFile{"listen.client_ca", &cfg.Listen.ClientCA, false}, namedFile{"listen.client_revoked", &cfg.Listen.ClientRevoked, false})
	if m := &cfg.Metering.Store; m.Engine == enginePostgres {
		list = append(list, databaseFiles("metering.store.", &m.PasswordFile, &m.TLS)...)
	}
	list = append(list, namedFile{"cluster.key_file", &cfg.Cluster.KeyFile, true})
	systems := cfg.Metering.Concentrator.Systems
	for i := range systems {
		key := fmt.Sprintf("metering.concentrator.systems[%d].", i)
		list = append(list, namedFile{key + "token_file", &systems[i].TokenFile, true}, namedFile{key + "ca_file", &systems[i].CAFile, false})
	}
	for i := range cfg.MQTT.Publish {
		p, key := &cfg.MQTT.Publish[i], fmt.Sprintf("mqtt.publish[%d].", i)
		list = append(list, namedFile{key + "password_file", &p.PasswordFile, true}, namedFile{key + "ca", &p.CA, false})
	}
	add := func(key string, file *string, secret bool) { list = append(list, namedFile{key, file, secret}) }
	cfg.Sinks.Files(func(key string, file *string, secret bool) { add("sinks"+key, file, secret) })
	cfg.Sources.Files(func(key string, file *string, secret bool) { add("sources"+key, file, secret) })
	for i := range cfg.Judge {
		add(fmt.Sprintf("judge[%d].file", i), &cfg.Judge[i].File, false)
	}
	members := cfg.Metering.Cluster.Members
	for i := range members {
		if members[i].Name == cfg.Node.Name { // its entry is for the others
			continue
		}
		key := fmt.Sprintf("metering.cluster.members[%d].", i)
		list = append(list, namedFile{key + "token_file", &members[i].TokenFile, true}, namedFile{key + "ca_file", &members[i].CAFile, false})
	}
	return slices.DeleteFunc(list, func(f namedFile) bool { return *f.file == "" })
}

// nameFiles makes the names of files relative to the working directory.
func (l *loader) nameFiles(cfg *Config) {
	for _, f := range namedFiles(cfg) {
		*f.file = filepath.Clean(l.near(*f.file))
	}
}

// checkFiles checks that the files exist and that others cannot read them.
func (l *loader) checkFiles(root *yaml.Node, cfg *Config) {
	for _, f := range namedFiles(cfg) {
		info, err := os.Stat(*f.file)
		switch {
		case err != nil || info.IsDir():
			l.report(l.file, root, f.key, "%q cannot be read; write the name of a file that this user may read", *f.file)
		case f.secret && info.Mode().Perm()&0o007 != 0:
			l.report(l.file, root, f.key, "%q can be read by everybody on this machine; chmod 600 it", *f.file)
		}
	}
}
