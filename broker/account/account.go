// Package account keeps the devices that may use the MQTT broker: their kinds, the hashes of their secrets, and their certificates.
package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/broker/setting"
	"voltbus/fault"
)

// Device is a device that may connect. The secret is random, so a plain hash of it cannot be reversed.
type Device struct {
	Name        string
	Kind        string
	Secret      [32]byte  // its SHA-256; zero for none
	Certificate [32]byte  // the SHA-256 of the certificate that it was given last; zero for none
	Expires     time.Time // of the certificate
	Created     time.Time
	Changed     time.Time // secret or certificate
}

// Storage keeps devices.
type Storage interface {
	Devices(ctx context.Context, each func(Device)) error
	// PutDevices keeps devices, all or none.
	PutDevices(ctx context.Context, list []Device) error
	RemoveDevice(ctx context.Context, name string) error
}

// Registry holds the devices in memory. It is safe for concurrent use.
type Registry struct {
	storage Storage
	now     func() time.Time
	dismiss func(device string, forget bool)

	writing sync.Mutex // one change at a time
	mu      sync.RWMutex
	devices map[string]Device
}

// Open reads the devices. dismiss is told when what a device shows is not good any more, and, with forget, when it was
// removed; nil tells nobody.
func Open(ctx context.Context, storage Storage, now func() time.Time, dismiss func(device string, forget bool)) (*Registry, error) {
	r := &Registry{storage: storage, now: now, dismiss: dismiss, devices: map[string]Device{}}
	if r.dismiss == nil {
		r.dismiss = func(string, bool) {}
	}
	return r, storage.Devices(ctx, func(d Device) { r.devices[d.Name] = d })
}

// Notify sets whom to tell, see Open. Call it before the registry is used.
func (r *Registry) Notify(dismiss func(device string, forget bool)) { r.dismiss = dismiss }

// What a secret must have. One that people choose could be guessed, since its hash is a fast one.
const (
	minSecret   = 20
	maxSecret   = 128
	secretBytes = 18
)

// NewSecret returns a random secret of 144 bits, 24 characters.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails, see its documentation
	return base64.RawURLEncoding.EncodeToString(b)
}

func hashOf(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

var (
	errName    = errors.New("is not a name: write up to 64 letters, digits and . _ : @ -, beginning with a letter or digit")
	errKind    = errors.New("is not the name of a kind: write up to 64 letters, digits, - and _")
	errSecret  = errors.New("secret is too short or too long: leave it out to have one made, or write 20 to 128 random characters")
	errThere   = errors.New("is there already; rotate its secret, or remove it first")
	errAbsent  = errors.New("there is no such device; voltbus mqtt devices lists them")
	errWrong   = errors.New("name or secret is wrong")
	errAnother = errors.New("certificate is not the one that the device was given last")
	errTwice   = errors.New("stands in the list twice")
)

// NewDevice is a device to be added.
type NewDevice struct {
	Name   string `json:"name"`
	Kind   string `json:"kind,omitempty"`   // default if empty
	Secret string `json:"secret,omitempty"` // made if empty
}

func (w *NewDevice) device(now time.Time) (Device, error) {
	w.Kind = cmp.Or(w.Kind, setting.DefaultKind)
	switch {
	case !setting.IsDeviceName(w.Name):
		return Device{}, fault.E("account.Add", fault.Invalid, clip(w.Name), errName)
	case !setting.IsKindName(w.Kind):
		return Device{}, fault.E("account.Add", fault.Invalid, clip(w.Kind), errKind)
	case w.Secret == "":
		w.Secret = NewSecret()
	case len(w.Secret) < minSecret || len(w.Secret) > maxSecret:
		return Device{}, fault.E("account.Add", fault.Invalid, w.Name, errSecret)
	}
	return Device{Name: w.Name, Kind: w.Kind, Secret: hashOf(w.Secret), Created: now, Changed: now}, nil
}

// Add adds devices, all or none, and writes the secrets that were made into the list.
func (r *Registry) Add(ctx context.Context, list []NewDevice) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	now := r.now().UTC().Truncate(time.Microsecond)
	devices := make([]Device, len(list))
	seen := make(map[string]bool, len(list))
	for i := range list {
		d, err := list[i].device(now)
		if err != nil {
			return err
		}
		if seen[d.Name] {
			return fault.E("account.Add", fault.Invalid, d.Name, errTwice)
		}
		if _, is := r.Get(d.Name); is {
			return fault.E("account.Add", fault.Conflict, d.Name, errThere)
		}
		seen[d.Name], devices[i] = true, d
	}
	return r.put(ctx, devices)
}

func (r *Registry) put(ctx context.Context, devices []Device) error {
	if err := r.storage.PutDevices(ctx, devices); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range devices {
		r.devices[d.Name] = d
	}
	return nil
}

// Rotate gives a device a new secret and returns it. Its connections end.
func (r *Registry) Rotate(ctx context.Context, name string) (secret string, err error) {
	secret = NewSecret()
	return secret, r.change(ctx, name, func(d *Device) { d.Secret = hashOf(secret) })
}

// Certify notes the certificate that a device was given; the one before is not good any more, and connections end.
func (r *Registry) Certify(ctx context.Context, name string, fingerprint [32]byte, expires time.Time) error {
	return r.change(ctx, name, func(d *Device) { d.Certificate, d.Expires = fingerprint, expires })
}

// Issued is a certificate that a device is given.
type Issued struct {
	Fingerprint [32]byte // its SHA-256
	Expires     time.Time
}

// CertifyAll notes the certificates that devices were given, by name, all or none, as Certify does.
func (r *Registry) CertifyAll(ctx context.Context, given map[string]Issued) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	now := r.now().UTC().Truncate(time.Microsecond)
	devices := make([]Device, 0, len(given))
	for name, g := range given {
		d, is := r.Get(name)
		if !is {
			return fault.E("account.CertifyAll", fault.NotFound, clip(name), errAbsent)
		}
		d.Certificate, d.Expires, d.Changed = g.Fingerprint, g.Expires, now
		devices = append(devices, d)
	}
	if err := r.put(ctx, devices); err != nil {
		return err
	}
	for name := range given {
		r.dismiss(name, false)
	}
	return nil
}

func (r *Registry) change(ctx context.Context, name string, how func(*Device)) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	d, is := r.Get(name)
	if !is {
		return fault.E("account.Change", fault.NotFound, clip(name), errAbsent)
	}
	how(&d)
	d.Changed = r.now().UTC().Truncate(time.Microsecond)
	if err := r.put(ctx, []Device{d}); err != nil {
		return err
	}
	r.dismiss(name, false)
	return nil
}

// Remove removes a device. Its connections and sessions end at once.
func (r *Registry) Remove(ctx context.Context, name string) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	if _, is := r.Get(name); !is {
		return fault.E("account.Remove", fault.NotFound, clip(name), errAbsent)
	}
	if err := r.storage.RemoveDevice(ctx, name); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.devices, name)
	r.mu.Unlock()
	r.dismiss(name, true)
	return nil
}

// Apply takes over what another replica changed of a device; nil removes it. It does not keep it.
func (r *Registry) Apply(name string, d *Device) {
	r.mu.Lock()
	old, had := r.devices[name]
	if d == nil {
		delete(r.devices, name)
	} else {
		r.devices[name] = *d
	}
	r.mu.Unlock()
	if had && (d == nil || d.Secret != old.Secret || d.Certificate != old.Certificate) {
		r.dismiss(name, d == nil)
	}
}

// Get returns a device.
func (r *Registry) Get(name string) (Device, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	d, is := r.devices[name]
	return d, is
}

// Len returns how many devices there are.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.devices)
}

// List returns devices in the order of their names, behind a name, at most limit of them.
func (r *Registry) List(after string, limit int) (list []Device, more bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.devices))
	for name := range r.devices {
		if name > after {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	more = len(names) > limit
	for _, name := range names[:min(limit, len(names))] {
		list = append(list, r.devices[name])
	}
	return list, more
}

// Login implements broker.Devices. It takes as long for a name that is unknown.
func (r *Registry) Login(name, secret string) (kind string, err error) {
	d, is := r.Get(name)
	hash := hashOf(secret)
	if right := subtle.ConstantTimeCompare(hash[:], d.Secret[:]) == 1; !right || !is || secret == "" {
		return "", fault.E("account.Login", fault.Refused, clip(name), errWrong)
	}
	return d.Kind, nil
}

// Certified implements broker.Devices.
func (r *Registry) Certified(name string, fingerprint [32]byte) (kind string, err error) {
	d, is := r.Get(name)
	switch {
	case !is || d.Certificate == [32]byte{} || d.Certificate != fingerprint:
		return "", fault.E("account.Certified", fault.Refused, clip(name), errAnother)
	case r.now().After(d.Expires):
		return "", fault.E("account.Certified", fault.Refused, name, fmt.Errorf("certificate ended %s", d.Expires.Format(time.DateOnly)))
	}
	return d.Kind, nil
}

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
