package client

import (
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the thumbprint that the protocol prescribes; it proves nothing
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// Security is how messages are secured. The zero value is not: no security.
type Security struct {
	Policy            string // the URI of the security policy; "" for none
	Sign              bool   // messages are signed only, not encrypted
	Certificate       []byte // the client's, DER
	Key               *rsa.PrivateKey
	ServerCertificate []byte // DER; the caller trusts it
}

func (s *Security) none() bool { return s.Policy == "" || s.Policy == ua.SecurityPolicyURINone }

func (s *Security) policy() string {
	if s.none() {
		return ua.SecurityPolicyURINone
	}
	return s.Policy
}

func (s *Security) mode() ua.MessageSecurityMode {
	switch {
	case s.none():
		return ua.MessageSecurityModeNone
	case s.Sign:
		return ua.MessageSecurityModeSign
	}
	return ua.MessageSecurityModeSignAndEncrypt
}

// asymmetric returns the algorithms of a policy with the keys of both sides.
func (s *Security) asymmetric(policy string) (*uapolicy.EncryptionAlgorithm, error) {
	if policy == ua.SecurityPolicyURINone {
		return uapolicy.Asymmetric(policy, nil, nil)
	}
	remote, err := publicKey(s.ServerCertificate)
	if err != nil {
		return nil, err
	}
	return uapolicy.Asymmetric(policy, s.Key, remote)
}

func publicKey(der []byte) (*rsa.PublicKey, error) {
	cert, err := leaf(der)
	if err != nil {
		return nil, err
	}
	key, is := cert.PublicKey.(*rsa.PublicKey)
	if !is {
		return nil, errors.New("the server's certificate has no RSA key, which its security policy requires")
	}
	return key, nil
}

// leaf returns the first certificate of a chain.
func leaf(der []byte) (*x509.Certificate, error) {
	chain, err := x509.ParseCertificates(der)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's certificate cannot be read: %w", err)
	case len(chain) == 0:
		return nil, errors.New("the server shows no certificate")
	}
	return chain[0], nil
}

// thumbprint names a certificate in the header of a message (Part 6, clause 6.7.2.3).
func thumbprint(der []byte) []byte {
	cert, err := leaf(der)
	if err != nil {
		return nil
	}
	sum := sha1.Sum(cert.Raw) //nolint:gosec // as above
	return sum[:]
}

// seal signs and encrypts a chunk: header is what stays readable, with room for the size at 4; plain is what follows.
func seal(algo *uapolicy.EncryptionAlgorithm, header, plain []byte, encrypt bool) ([]byte, error) {
	sig := algo.SignatureLength()
	size := len(header) + len(plain) + sig
	if encrypt {
		plain = pad(algo, plain)
		size = len(header) + (len(plain)+sig)/algo.PlaintextBlockSize()*algo.BlockSize()
	}
	binary.LittleEndian.PutUint32(header[4:], uint32(size)) //nolint:gosec // bounded by the buffer
	whole := append(append([]byte{}, header...), plain...)
	signature, err := algo.Signature(whole)
	if err != nil {
		return nil, err
	}
	whole = append(whole, signature...)
	if !encrypt {
		return whole, nil
	}
	secret, err := algo.Encrypt(whole[len(header):])
	if err != nil {
		return nil, err
	}
	return append(whole[:len(header):len(header)], secret...), nil
}

// longKey is the size of an RSA block in bytes above which padding has two bytes for its length (Part 6, clause 6.7.2.5).
const longKey = 256

func pad(algo *uapolicy.EncryptionAlgorithm, plain []byte) []byte {
	block, extra := algo.PlaintextBlockSize(), 0
	if algo.BlockSize() > longKey {
		extra = 1
	}
	n := (block - (len(plain)+1+extra+algo.SignatureLength())%block) % block
	out := append([]byte{}, plain...)
	for range n + 1 {
		out = append(out, byte(n))
	}
	if extra > 0 {
		out = append(out, byte(n>>8))
	}
	return out
}

var errSecurity = errors.New("sent a message that is not secured as agreed")

// unseal decrypts and verifies what follows the header of a chunk. own is the size of an RSA block of the own key, 0 for
// symmetric algorithms.
func unseal(algo *uapolicy.EncryptionAlgorithm, header, secret []byte, encrypted bool, own int) ([]byte, error) {
	plain := secret
	if encrypted {
		var err error
		if plain, err = algo.Decrypt(secret); err != nil {
			return nil, errSecurity
		}
	}
	sig := algo.RemoteSignatureLength()
	if len(plain) < sig {
		return nil, errSecurity
	}
	body, signature := plain[:len(plain)-sig], plain[len(plain)-sig:]
	if sig > 0 {
		if err := algo.VerifySignature(append(append([]byte{}, header...), body...), signature); err != nil {
			return nil, errSecurity
		}
	}
	if !encrypted {
		return body, nil
	}
	return unpad(body, own)
}

func unpad(body []byte, own int) ([]byte, error) {
	if len(body) < 2 {
		return nil, errSecurity
	}
	n := int(body[len(body)-1]) + 1
	if own > longKey {
		n = int(body[len(body)-1])<<8 + int(body[len(body)-2]) + 2
	}
	if n > len(body) {
		return nil, errSecurity
	}
	return body[:len(body)-n], nil
}
