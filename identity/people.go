package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"voltbus/fault"
)

var (
	errPersonName = fmt.Errorf("a name has 1 to %d letters, digits, and . _ @ - between them", maxUserName)
	errPersonRole = errors.New("must be viewer, operator, engineer or administrator")
	errNoPassword = errors.New("a new person needs a password")
	errLast       = errors.New("is the last administrator with a password; make another one first")
	errLocal      = errors.New("is the local administrator, whose token stands in admin.token; it can be neither changed nor removed")
	errWrong      = errors.New("name or password are wrong")
	errTokenOnly  = errors.New("has no password; an administrator can set one")
	errSetUp      = errors.New("is done already: there is an administrator; log in as one to admit more people")
)

// Change describes a change of a person.
type Change struct {
	Name     string
	Role     Role
	Password string // "" to keep the current one
}

// personName returns the stored form of a name: in lower case, since phones capitalise the first letter, and
// in the Unicode normal form that most keyboards produce.
func personName(name string) string {
	return norm.NFC.String(strings.ToLower(strings.TrimSpace(name)))
}

func checkName(name string) error {
	if name == "" || len(name) > maxUserName {
		return errPersonName
	}
	for i, r := range name {
		inner := i > 0 && strings.ContainsRune("._@-", r)
		if !inner && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return errPersonName
		}
	}
	return nil
}

// People lists everybody who can log in, by name.
func (l *Logins) People(ctx context.Context) ([]Account, error) { return l.accounts.Users(ctx) }

// HasPerson reports whether a person can log in.
func HasPerson(ctx context.Context, l *Logins, name string) (bool, error) {
	_, err := l.accounts.Account(ctx, personName(name))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// SetPerson adds a person, or changes role and password. A new password ends the person's sessions. The last
// administrator with a password cannot be demoted.
func (l *Logins) SetPerson(ctx context.Context, c Change) (Account, error) {
	c.Name = personName(c.Name)
	if err := c.validate(); err != nil {
		return Account{}, err
	}
	l.people.Lock()
	defer l.people.Unlock()
	before, err := l.accounts.Account(ctx, c.Name)
	isNew := fault.Is(err, fault.NotFound)
	switch {
	case err != nil && !isNew:
		return Account{}, err
	case c.Password == "" && isNew:
		return Account{}, fault.E("identity.SetPerson", fault.Invalid, "password", errNoPassword)
	}
	if isNew {
		if err := checkLooks(c.Name); err != nil {
			return Account{}, fault.E("identity.SetPerson", fault.Invalid, "name", err)
		}
	}
	if c.Role != Administrator && before.Password != "" {
		if err := l.keepOne(ctx, before); err != nil {
			return Account{}, err
		}
	}
	u := User{Name: c.Name, Role: c.Role}
	if c.Password == "" {
		err = l.accounts.PutUser(ctx, u)
	} else {
		err = l.putPassword(ctx, u, c.Password)
	}
	if err != nil {
		return Account{}, err
	}
	return l.accounts.Account(ctx, c.Name)
}

func (c *Change) validate() error {
	const op = "identity.SetPerson"
	if err := checkName(c.Name); err != nil {
		return fault.E(op, fault.Invalid, "name", err)
	}
	if c.Name == AdminName {
		return fault.E(op, fault.Refused, c.Name, errLocal)
	}
	if c.Role == Nobody {
		return fault.E(op, fault.Invalid, "role", errPersonRole)
	}
	if c.Password == "" {
		return nil
	}
	if err := checkPassword(c.Name, c.Password); err != nil {
		return fault.E(op, fault.Invalid, "password", err)
	}
	return nil
}

// keepOne refuses to lose the last administrator with a password.
func (l *Logins) keepOne(ctx context.Context, leaving Account) error {
	if leaving.Role != Administrator || leaving.Password == "" {
		return nil
	}
	users, err := l.accounts.Users(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Name != leaving.Name && u.Role == Administrator && u.Password != "" {
			return nil
		}
	}
	return fault.E("identity.keepOne", fault.Conflict, leaving.Name, errLast)
}

// RemovePerson removes a person with tokens and sessions; fault.NotFound if there is none,
// fault.Conflict for the last administrator with a password.
func (l *Logins) RemovePerson(ctx context.Context, name string) error {
	name = personName(name)
	if name == AdminName {
		return fault.E("identity.RemovePerson", fault.Refused, name, errLocal)
	}
	l.people.Lock()
	defer l.people.Unlock()
	a, err := l.accounts.Account(ctx, name)
	if err != nil {
		return err
	}
	if err := l.keepOne(ctx, a); err != nil {
		return err
	}
	return l.accounts.DropUser(ctx, name)
}

// NeedsSetup reports whether there is no administrator with a password yet.
func (l *Logins) NeedsSetup(ctx context.Context) (bool, error) {
	users, err := l.accounts.Users(ctx)
	for _, u := range users {
		if u.Role == Administrator && u.Password != "" {
			return false, err
		}
	}
	return err == nil, err
}

// SetUp admits the first administrator; fault.Conflict if there is one.
func (l *Logins) SetUp(ctx context.Context, name, password string) (User, error) {
	c := Change{Name: personName(name), Role: Administrator, Password: password}
	if err := c.validate(); err != nil {
		return User{}, err
	}
	if err := checkLooks(c.Name); err != nil {
		return User{}, fault.E("identity.SetUp", fault.Invalid, "name", err)
	}
	if password == "" {
		return User{}, fault.E("identity.SetUp", fault.Invalid, "password", errPassword)
	}
	l.people.Lock()
	defer l.people.Unlock()
	needed, err := l.NeedsSetup(ctx)
	if err != nil {
		return User{}, err
	}
	if !needed {
		return User{}, fault.E("identity.SetUp", fault.Conflict, "setup", errSetUp)
	}
	u := User{Name: c.Name, Role: Administrator}
	return u, l.putPassword(ctx, u, password)
}

// LoginByName exchanges name and password for a session, as Login does a token. A wrong name and a wrong
// password give the same fault.Refused after the same time.
func (l *Logins) LoginByName(ctx context.Context, name, password string) (secret string, session Credential, err error) {
	u, err := l.verify(ctx, personName(name), password)
	if err != nil {
		return "", Credential{}, err
	}
	return l.begin(ctx, u, Credential{})
}

// ChangePassword sets the password of a user who presents the old one. All sessions of the user end.
func (l *Logins) ChangePassword(ctx context.Context, name, old, password string) error {
	a, err := l.accounts.Account(ctx, name)
	if err != nil {
		return err
	}
	if a.Password == "" {
		return fault.E("identity.ChangePassword", fault.Conflict, name, errTokenOnly)
	}
	if err := checkPassword(name, password); err != nil {
		return fault.E("identity.ChangePassword", fault.Invalid, "password", err)
	}
	u, err := l.verify(ctx, name, old)
	if err != nil {
		return err
	}
	l.people.Lock()
	defer l.people.Unlock()
	return l.putPassword(ctx, u, password)
}

// nobodysPassword is encoded like the others: an unknown name must take the same time.
const nobodysPassword = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// verify returns the user whose name and password these are, or fault.Refused.
func (l *Logins) verify(ctx context.Context, name, password string) (User, error) {
	if len(password) > maxPassword || len(name) > maxUserName {
		return User{}, fault.E("identity.verify", fault.Refused, "", errWrong)
	}
	a, err := l.accounts.Account(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return User{}, err
	}
	encoded := a.Password
	if encoded == "" {
		encoded = nobodysPassword
	}
	if err := l.hashing.acquire(ctx); err != nil {
		return User{}, err
	}
	defer l.hashing.release()
	right, err := verifyPassword(encoded, password)
	if err != nil {
		return User{}, fault.E("identity.verify", fault.Corrupt, name, err)
	}
	if !right || a.Password == "" {
		return User{}, fault.E("identity.verify", fault.Refused, "", errWrong)
	}
	return a.User, nil
}

func (l *Logins) putPassword(ctx context.Context, u User, password string) error {
	if err := l.hashing.acquire(ctx); err != nil {
		return err
	}
	encoded := hashPassword(password)
	l.hashing.release()
	return l.accounts.PutPassword(ctx, u, encoded)
}
