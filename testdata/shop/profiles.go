package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"
)

// A recorder collects profiles of this process from its start to write.
type recorder struct{ cpu bytes.Buffer }

func startRecorder(hz int) (*recorder, error) {
	runtime.SetMutexProfileFraction(1)
	if hz != 100 {
		// StartCPUProfile asks for 100 Hz; the runtime then keeps this rate and says so on stderr.
		runtime.SetCPUProfileRate(hz)
	}
	r := new(recorder)
	return r, pprof.StartCPUProfile(&r.cpu)
}

// write ends the CPU profile and writes all profiles as DIR/POD.KIND.pb.gz.
func (r *recorder) write(dir, pod, at string) error {
	pprof.StopCPUProfile()
	runtime.GC() // a heap profile shows the state after the last collection
	if err := save(dir, pod, "cpu", at, r.cpu.Bytes()); err != nil {
		return err
	}
	for _, kind := range []string{"heap", "mutex", "goroutine"} {
		var profile bytes.Buffer
		if err := pprof.Lookup(kind).WriteTo(&profile, 0); err != nil {
			return err
		}
		if err := save(dir, pod, kind, at, profile.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func save(dir, pod, kind, at string, profile []byte) error {
	packed, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(packed)
	if err != nil {
		return err
	}
	if raw, err = place(raw, at); err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err = w.Write(raw); err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%s.pb.gz", pod, kind)), out.Bytes(), 0o666)
}

// Fields of the message Profile that place changes.
const (
	fieldString = 6
	fieldTime   = 9
)

// place rewrites what depends on where and when the profile was taken: the time, when at names
// another, and the path of the program, of which the name is left.
func place(raw []byte, at string) ([]byte, error) {
	var nanos uint64
	if at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, err
		}
		nanos = uint64(t.UnixNano())
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out []byte
	for len(raw) > 0 {
		whole := raw
		tag, n := binary.Uvarint(raw)
		if n <= 0 {
			return nil, errors.New("profile ends inside a tag")
		}
		raw = raw[n:]
		value, n := binary.Uvarint(raw)
		if n <= 0 || tag&7 == 2 && value > uint64(len(raw)-n) {
			return nil, errors.New("profile ends inside a field")
		}
		raw = raw[n:]
		if tag&7 == 2 { // length and bytes; all other fields of a profile are varints
			text := raw[:value]
			raw = raw[value:]
			if tag>>3 == fieldString && string(text) == program {
				name := filepath.Base(program)
				out = append(appendUvarint(appendUvarint(out, tag), uint64(len(name))), name...)
				continue
			}
		} else if tag>>3 == fieldTime && nanos != 0 {
			out = appendUvarint(appendUvarint(out, tag), nanos)
			continue
		}
		out = append(out, whole[:len(whole)-len(raw)]...)
	}
	return out, nil
}

func appendUvarint(out []byte, v uint64) []byte {
	var buffer [binary.MaxVarintLen64]byte
	return append(out, buffer[:binary.PutUvarint(buffer[:], v)]...)
}
