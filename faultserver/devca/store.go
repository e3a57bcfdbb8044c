package devca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// The files of an authority. The key's holds the certificate too, so that they cannot come apart; the other is a copy to
// hand to clients.
const (
	CertFile = "ca.pem"
	KeyFile  = "ca-key.pem"
)

// Open takes the authority that is kept in a directory. It makes one, and the directory, where there is none, and a new one
// where less than 14 days are left of it: see Renewed. Errors name the file and what to do.
func Open(dir string) (*CA, error) {
	if dir == "" {
		return nil, errors.New("devca: the directory has no name")
	}
	ca, err := read(filepath.Join(dir, KeyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := alone(dir); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case ca.usable(time.Now()):
		return ca, ca.keepCopy(dir)
	}
	if ca, err = New(); err != nil {
		return nil, err
	}
	return ca, ca.keep(dir)
}

// alone refuses a directory that holds somebody else's authority.
func alone(dir string) error {
	file := filepath.Join(dir, CertFile)
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("devca: %s is there without its key in %s; take another directory, or remove it to have a new one made", file, KeyFile)
	}
	return nil
}

func (c *CA) usable(now time.Time) bool {
	return now.After(c.cert.NotBefore) && now.Add(renewal).Before(c.cert.NotAfter)
}

// read takes an authority from the file that has its key.
func read(file string) (*CA, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("devca: %s can be read by others (mode %04o), so the key is no secret; remove it to have a new one made, "+
			"or chmod 600 it if only you could reach it", file, info.Mode().Perm())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	ca, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("devca: %s %w; remove it to have a new authority made", file, err)
	}
	return ca, nil
}

// parse reads key and certificate. Its errors go on behind the file's name.
func parse(data []byte) (*CA, error) {
	ca := &CA{}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		var err error
		switch block.Type {
		case "EC PRIVATE KEY":
			ca.key, err = x509.ParseECPrivateKey(block.Bytes)
		case "CERTIFICATE":
			ca.cert, err = x509.ParseCertificate(block.Bytes)
		}
		if err != nil {
			return nil, fmt.Errorf("has a broken %s: %w", block.Type, err)
		}
	}
	switch {
	case ca.key == nil:
		return nil, errors.New("has no EC PRIVATE KEY in it")
	case ca.cert == nil:
		return nil, errors.New("has no CERTIFICATE in it")
	case !slices.Contains(ca.cert.Subject.Organization, organization) || !ca.cert.IsCA:
		return nil, fmt.Errorf("is no authority that retrygate made, but one of %q", ca.cert.Subject)
	}
	if public, ok := ca.cert.PublicKey.(*ecdsa.PublicKey); !ok || !public.Equal(ca.key.Public()) {
		return nil, errors.New("has a certificate and a key that do not belong together")
	}
	return ca, nil
}

// keep writes the authority down.
func (c *CA) keep(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("devca: %w", err)
	}
	key, err := x509.MarshalECPrivateKey(c.key)
	if err != nil {
		return fmt.Errorf("devca: %w", err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}), c.PEM()...)
	if err := replace(filepath.Join(dir, KeyFile), text, 0o600); err != nil {
		return err
	}
	return c.keepCopy(dir)
}

// keepCopy sees to it that clients are told to trust this authority and no other.
func (c *CA) keepCopy(dir string) error {
	file := filepath.Join(dir, CertFile)
	if now, err := os.ReadFile(file); err == nil && bytes.Equal(now, c.PEM()) {
		return nil
	}
	return replace(file, c.PEM(), 0o644)
}

// replace writes a file whole or not at all. It has its mode before there is anything in it.
func replace(file string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("devca: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("devca: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
