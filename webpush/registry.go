package webpush

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// Device is a browser that asked for pushes.
type Device struct {
	Keys

	ID       string    `json:"id"`     // of the endpoint; it is no secret
	Person   string    `json:"person"` // the name of the account
	Name     string    `json:"name"`   // what the person calls it
	Endpoint string    `json:"endpoint"`
	Since    time.Time `json:"since"`
}

// Service is the host of its push service.
func (d *Device) Service() string {
	u, err := url.Parse(d.Endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// File is the name of the file in the data directory. It holds the key by which browsers know the node, and is secret.
const File = "web-push.json"

// kept is its content.
type kept struct {
	Key     string   `json:"key"`
	Devices []Device `json:"devices"`
}

// Bounds.
const (
	mostDevices  = 20 // of a person
	mostAll      = 1000
	mostEndpoint = 2048
	mostName     = 100
)

// Options are what a registry needs.
type Options struct {
	Dir string // the data directory
	Now func() time.Time
	TLS *tls.Config // for connections to push services; nil for the authorities of the system
}

// Registry keeps the devices that take pushes. It is safe for concurrent use.
type Registry struct {
	o        Options
	identity identity

	mu      sync.Mutex
	kept    bool // the key is on disk
	devices []Device
}

// Check returns what is wrong with the content of the file.
func Check(content []byte) error {
	var k kept
	if err := json.Unmarshal(content, &k); err != nil {
		return err
	}
	_, err := readIdentity(k.Key)
	return err
}

// Open reads the file of a data directory. Without one a key is made, and written when somebody asks for it.
func Open(o Options) (*Registry, error) {
	r := &Registry{o: o}
	file := filepath.Join(o.Dir, File)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		r.identity, err = newIdentity()
		return r, err
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(content, &k)
	}
	if err == nil {
		r.identity, err = readIdentity(k.Key)
	}
	if err != nil {
		return nil, fault.E("webpush.Open", fault.Corrupt, file, fmt.Errorf("%w: remove the file; people turn pushes on again", err))
	}
	r.kept, r.devices = true, k.Devices
	return r, nil
}

// write puts the devices on disk. The caller holds mu, or nobody else knows the registry.
func (r *Registry) write(devices []Device) error {
	content, err := json.MarshalIndent(kept{r.identity.text(), devices}, "", "  ")
	if err == nil {
		err = (atomicfile.Writer{}).Write(filepath.Join(r.o.Dir, File), content, 0o600)
	}
	if err != nil {
		return fault.E("webpush.Add", fault.Unavailable, File, err)
	}
	r.kept, r.devices = true, devices
	return nil
}

// Key is the applicationServerKey that browsers subscribe with, in base64url. It is on disk.
func (r *Registry) Key() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.kept {
		if err := r.write(nil); err != nil {
			return "", err
		}
	}
	return r.identity.public(), nil
}

// Of lists the devices of a person, the oldest first.
func (r *Registry) Of(person string) (list []Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.devices {
		if r.devices[i].Person == person {
			list = append(list, r.devices[i])
		}
	}
	return list
}

// Add keeps a device, with what its browser gave, and returns it. A device that is there already belongs to the person from now on.
func (r *Registry) Add(s *Setting, d Device) (Device, error) {
	if _, err := s.allows(d.Endpoint); err != nil {
		return d, wrong("%w", err)
	}
	if _, _, err := d.parse(); err != nil {
		return d, wrong("%w", err)
	}
	if d.Person == "" || d.Name == "" || len(d.Name) > mostName {
		return d, wrong("name: write what you call the device, in at most %d bytes", mostName)
	}
	sum := sha256.Sum256([]byte(d.Endpoint))
	d.ID, d.Since = base64.RawURLEncoding.EncodeToString(sum[:12]), r.o.Now().UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(r.devices), func(o Device) bool { return o.ID == d.ID })
	own := 0
	for i := range list {
		if list[i].Person == d.Person {
			own++
		}
	}
	if own >= mostDevices || len(list) >= mostAll {
		return d, fault.E("webpush.Add", fault.Conflict, d.Person, fmt.Errorf("at most %d devices of a person, and %d in all, take pushes; remove one first", mostDevices, mostAll))
	}
	return d, r.write(append(list, d))
}

// Remove forgets a device of a person.
func (r *Registry) Remove(person, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(r.devices), func(o Device) bool { return o.ID == id && o.Person == person })
	if len(list) == len(r.devices) {
		return fault.E("webpush.Remove", fault.NotFound, id, errors.New("is not a device of yours that takes pushes"))
	}
	return r.write(list)
}

// forget forgets devices that their push services do not know any more.
func (r *Registry) forget(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(slices.DeleteFunc(slices.Clone(r.devices), func(o Device) bool { return slices.Contains(ids, o.ID) }))
}
