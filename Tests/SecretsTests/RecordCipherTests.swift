import Testing

@testable import Secrets

@Suite("Sealing records one by one")
struct RecordCipherTests {
    private let key = EncryptionKey.generate()

    @Test("A sealed record is read back and never has the same bytes twice", arguments: [0, 1, 65_536])
    func roundTrip(_ count: Int) throws {
        let cipher = RecordCipher(key: key, purpose: "test")
        let record = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try cipher.seal(record, context: [1, 2])
        #expect(sealed.count == count + RecordCipher.overhead)
        #expect(try cipher.open(sealed, context: [1, 2]) == record)
        #expect(try cipher.seal(record, context: [1, 2]) != sealed)
    }

    @Test("Another key, purpose or context, and any altered byte, is refused")
    func refused() throws {
        let sealed = try RecordCipher(key: key, purpose: "test").seal([1, 2, 3], context: [9])
        #expect(throws: SecretError.wrongKey) {
            try RecordCipher(key: .generate(), purpose: "test").open(sealed, context: [9])
        }
        #expect(throws: SecretError.wrongKey) {
            try RecordCipher(key: self.key, purpose: "other").open(sealed, context: [9])
        }
        let cipher = RecordCipher(key: key, purpose: "test")
        #expect(throws: SecretError.wrongKey) { try cipher.open(sealed) }
        for place in sealed.indices {
            var altered = sealed
            altered[place] ^= 1
            #expect(throws: SecretError.wrongKey) { try cipher.open(altered, context: [9]) }
        }
        for count in 0..<RecordCipher.overhead {
            #expect(throws: SecretError.wrongKey) { try cipher.open(sealed.prefix(count), context: [9]) }
        }
    }

    @Test("A pseudonym is the same for the same text, key and purpose, and reveals nothing")
    func pseudonym() {
        let cipher = RecordCipher(key: key, purpose: "names")
        #expect(cipher.pseudonym(of: "orders") == cipher.pseudonym(of: "orders"))
        #expect(cipher.pseudonym(of: "orders") != cipher.pseudonym(of: "order"))
        #expect(cipher.pseudonym(of: "orders") != RecordCipher(key: key, purpose: "x").pseudonym(of: "orders"))
        #expect(cipher.pseudonym(of: "").count == 64)
    }

    @Test("A cipher prints nothing of its key")
    func printing() {
        #expect("\(RecordCipher(key: key, purpose: "x"))" == "‹redacted›")
    }
}
