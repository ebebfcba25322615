import Secrets
import Testing

@Suite("Types that hold secrets")
struct SecretTests {
    @Test("A secret prints as redacted in every form")
    func secretIsRedacted() {
        let secret = Secret("MARKER")
        var dumped = ""
        dump(secret, to: &dumped)
        let forms = ["\(secret)", String(reflecting: secret), dumped, "\([secret])", "\(Optional(secret) as Any)"]
        for form in forms {
            #expect(form.contains("‹redacted›"))
            #expect(!form.contains("MARKER"))
        }
        #expect(secret.reveal() == "MARKER")
    }

    @Test("A key and a key source print as redacted")
    func keyIsRedacted() throws {
        let key = try EncryptionKey(bytes: [UInt8](repeating: 0x41, count: 32))
        let sources: [Any] = [key, KeySource.key(key), KeySource.passphrase(Secret("AAAA"))]
        for source in sources {
            var dumped = ""
            dump(source, to: &dumped)
            for form in ["\(source)", String(reflecting: source), dumped] {
                #expect(form.contains("‹redacted›"))
                #expect(!form.contains("AAAA"))
                #expect(!form.contains("65"))
            }
        }
    }
}

@Suite("Encryption keys")
struct EncryptionKeyTests {
    @Test("A key has exactly 32 bytes", arguments: [0, 1, 31, 33, 64])
    func keyLength(count: Int) {
        #expect(throws: SecretError.keyLength(bytes: count)) {
            try EncryptionKey(bytes: [UInt8](repeating: 7, count: count))
        }
    }

    @Test("64 hexadecimal digits in either case make a key, and it prints them back")
    func hexadecimal() throws {
        let digits = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
        let key = try EncryptionKey(hexadecimal: digits)
        #expect(key.hexadecimal.reveal() == digits.lowercased())
        #expect(key.withUnsafeBytes { $0[1] } == 0x11)
    }

    @Test("A wrong digit is named by its position")
    func wrongDigit() {
        let digits = String(repeating: "0", count: 10) + "g" + String(repeating: "0", count: 53)
        #expect(throws: SecretError.hexadecimalDigit(position: 10)) { try EncryptionKey(hexadecimal: digits) }
        #expect(throws: SecretError.hexadecimalLength(digits: 3)) { try EncryptionKey(hexadecimal: "abc") }
    }

    @Test("Generated keys differ")
    func generated() {
        #expect(EncryptionKey.generate() != EncryptionKey.generate())
    }
}
