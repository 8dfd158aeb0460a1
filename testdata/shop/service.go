package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// What can be wrong, for --fault.
const (
	faultNone   = "none"
	faultHash   = "hash-cost"         // hashPassword does six times the rounds
	faultRegexp = "regexp-per-search" // matchItems compiles its expression for every other item
	faultLeak   = "leak"              // openSession keeps every session
	faultLock   = "lock-held"         // reserve prints the whole stock before it gives the lock back
)

var faults = []string{faultNone, faultHash, faultRegexp, faultLeak, faultLock}

const (
	catalogueSize  = 1200
	passwordRounds = 6000
	sessionsKept   = 500
	sessionBytes   = 16 << 10
)

type request struct{ user, item int }

type item struct {
	ID    int
	Name  string
	Cents int
	Tags  []string
}

type session struct {
	user  int
	state []byte
}

type shop struct {
	fault     string
	catalogue []item

	stockLock sync.Mutex
	stock     map[int]int

	sessionLock sync.Mutex
	sessions    []session
}

// The endpoints and their share of the requests in percent.
var endpoints = []struct {
	path   string
	weight int
	serve  func(*shop, request)
}{
	{"/cart", 40, (*shop).cart},
	{"/search", 25, (*shop).search},
	{"/invoice", 20, (*shop).invoice},
	{"/login", 15, (*shop).login},
}

func newShop(fault string) (*shop, error) {
	known := false
	for _, name := range faults {
		known = known || name == fault
	}
	if !known {
		return nil, fmt.Errorf("no fault is called '%s': %s", fault, strings.Join(faults, ", "))
	}
	s := &shop{fault: fault, stock: make(map[int]int)}
	kinds := []string{"kettle", "lamp", "chair", "teapot", "rug", "shelf", "clock"}
	for i := 0; i < catalogueSize; i++ {
		s.catalogue = append(s.catalogue, item{
			ID: i, Name: fmt.Sprintf("%s no. %d", kinds[i%len(kinds)], i*7919%catalogueSize),
			Cents: 100 + i*37%5000, Tags: []string{kinds[i%len(kinds)], "home"},
		})
	}
	return s, nil
}

// login checks a password and opens a session.
func (s *shop) login(r request) {
	rounds := passwordRounds
	if s.fault == faultHash {
		rounds *= 6
	}
	hashPassword(fmt.Sprintf("password of %d", r.user), rounds)
	s.openSession(r.user)
}

func hashPassword(password string, rounds int) [sha256.Size]byte {
	sum := sha256.Sum256([]byte(password))
	for i := 1; i < rounds; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func (s *shop) openSession(user int) {
	s.sessionLock.Lock()
	defer s.sessionLock.Unlock()
	s.sessions = append(s.sessions, session{user, make([]byte, sessionBytes)})
	if s.fault != faultLeak && len(s.sessions) > sessionsKept {
		s.sessions = append([]session(nil), s.sessions[sessionsKept/2:]...)
	}
}

// search finds items by a word and ranks them.
func (s *shop) search(r request) {
	found := s.matchItems(s.catalogue[r.item].Tags[0])
	rankItems(found, r.user)
}

func (s *shop) matchItems(word string) []item {
	word = `(?i)\b` + word + `\b`
	expression := regexp.MustCompile(word)
	var found []item
	for i, it := range s.catalogue {
		if s.fault == faultRegexp && i%2 == 0 {
			expression = regexp.MustCompile(word)
		}
		if expression.MatchString(it.Name) {
			found = append(found, it)
		}
	}
	return found
}

func rankItems(items []item, user int) {
	sort.Slice(items, func(a, b int) bool {
		x, y := items[a].Cents^user, items[b].Cents^user
		return x < y || x == y && items[a].ID < items[b].ID
	})
}

// cart takes an item off the stock and answers with the cart as JSON.
func (s *shop) cart(r request) {
	left := s.reserve(r.item)
	lines := s.catalogue[r.item%(catalogueSize-40):][:40]
	body, err := json.Marshal(map[string]interface{}{"user": r.user, "left": left, "lines": lines})
	if err != nil {
		panic(err)
	}
	var back struct{ Lines []item }
	if err := json.Unmarshal(body, &back); err != nil {
		panic(err)
	}
}

func (s *shop) reserve(id int) int {
	s.stockLock.Lock()
	defer s.stockLock.Unlock()
	if s.stock[id] == 0 {
		s.stock[id] = 50
	}
	s.stock[id]--
	if s.fault == faultLock {
		s.printItems(0, catalogueSize)
	}
	return s.stock[id]
}

// invoice prints items and packs the text.
func (s *shop) invoice(r request) {
	pack(s.printItems(r.item, 300))
}

func (s *shop) printItems(first, n int) []byte {
	var text bytes.Buffer
	for i := 0; i < n; i++ {
		it := s.catalogue[(first+i)%catalogueSize]
		fmt.Fprintf(&text, "%4d %-24s %8.2f\n", it.ID, it.Name, float64(it.Cents)/100)
	}
	return text.Bytes()
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}
