// With Go alone: WEBHOOK_SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	toleranceSeconds = 300
	bodyBytesMax     = 1 << 20
)

var (
	timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)
	idForm        = regexp.MustCompile(`^evt_[0-9a-z]+$`)
)

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("Set WEBHOOK_SECRET to the secret of the endpoint.")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	http.HandleFunc("/webhooks", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
		switch {
		case err != nil:
			response.WriteHeader(http.StatusRequestEntityTooLarge)
		case !isGenuine(key, request.Header, body):
			response.WriteHeader(http.StatusUnauthorized)
		case store(request.Header.Get("webhook-id"), body) != nil:
			response.WriteHeader(http.StatusInternalServerError) // Not stored, so the service sends the event again.
		default:
			response.WriteHeader(http.StatusNoContent)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}

// isGenuine is true if the service has sent this request. The body is the received bytes.
func isGenuine(key []byte, header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	if !timestampForm.MatchString(timestamp) {
		return false
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Now().Unix() - seconds
	if err != nil || age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	genuine := false
	for _, one := range strings.Split(header.Get("webhook-signature"), " ") {
		genuine = hmac.Equal(expected, []byte(one)) || genuine
	}
	return genuine
}

// store stores an event once, under its id. A file with this name is whole, and a repetition writes the same.
func store(id string, body []byte) error {
	if !idForm.MatchString(id) {
		return errors.New("the id is no id of an event")
	}
	if err := os.MkdirAll("inbox", 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp("inbox", "new")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(body); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join("inbox", id+".json"))
}
