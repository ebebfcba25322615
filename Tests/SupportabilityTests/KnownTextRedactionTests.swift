import Foundation
import Testing

@testable import Supportability

@Suite("A redaction that keeps known text")
struct KnownTextRedactionTests {
    private let redaction = KnownTextRedaction(
        messages: ["begins"],
        fields: ["status": KnownTextRedaction.isNumber, "code": KnownTextRedaction.isName])

    @Test("keeps messages unchanged, and metadata of known names and forms")
    func known() {
        var entry = record("begins", tag: "outpost.query", correlation: "3f2a-1")
        entry.metadata = ["status": "404", "code": "service.not-found"]
        #expect(redaction.redacted(entry) == entry)
    }

    @Test(
        "removes other messages",
        arguments: ["begins SECRET", "Passwort: SECRET", "SECRET", "Customers('SECRET')", "the password is SECRET"])
    func unknown(message: String) {
        let entry = redaction.redacted(record(message))
        #expect(entry.message == SecretRedaction.mark)
    }

    @Test("removes other metadata, and tags or correlation ids of any form")
    func metadata() {
        var entry = record("begins", tag: "tag of SECRET", correlation: "id SECRET")
        entry.metadata = [
            "status": "404 SECRET", "code": "was: SECRET", "url": "SECRET",
            "other": String(repeating: "a", count: KnownTextRedaction.maximumByteCount + 1),
        ]
        let redacted = redaction.redacted(entry)
        #expect(redacted.metadata.isEmpty)
        #expect(redacted.tag == SecretRedaction.mark && redacted.correlationID == nil)
        #expect(KnownTextRedaction.isName(String(repeating: "a", count: KnownTextRedaction.maximumByteCount)))
        #expect(!KnownTextRedaction.isName(String(repeating: "a", count: KnownTextRedaction.maximumByteCount + 1)))
    }
}
