/// The header fields that the pages of an app send with a request, from a browser and through a proxy.
public enum SampleFields {
    /// Names and values.
    public static let all: [(name: String, value: String)] = [
        ("Accept", "application/json;odata.metadata=minimal"), ("Accept-Encoding", "gzip, deflate, br, zstd"),
        ("Accept-Language", "de-CH,de;q=0.9,en;q=0.8"),
        // A token of 840 characters, as providers of identities issue them.
        ("Authorization", "Bearer " + String(repeating: "eyJhbGciOiJSUzI1NiJ9.", count: 40)),
        ("Cache-Control", "no-cache"), ("Cookie", "session=6f1c0b2a9d; theme=dark; consent=all"),
        ("OData-Version", "4.01"), ("OData-MaxVersion", "4.01"), ("Origin", "https://shop.example"),
        ("Prefer", "odata.maxpagesize=100"), ("Referer", "https://shop.example/orders?page=3"),
        ("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        (
            "User-Agent",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
        ),
        ("X-Forwarded-For", "192.0.2.17"), ("X-Forwarded-Proto", "https"),
        ("X-Request-ID", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    ]
}
