import Secrets
import Testing

private let cheap = try? ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)

@Suite("Passphrase derivation")
struct PassphraseDeriverTests {
    private let salt = [UInt8](0..<16)

    @Test("The key is derived by scrypt from the passphrase in form C")
    func knownAnswer() throws {
        let parameters = try #require(cheap)
        let deriver = PassphraseDeriver()
        let expected = "5bf46dabbd87b60733dd2c9dde1ac2006b17484aa6333501829848296979dd61"
        for passphrase in ["p\u{E4}ssword", "pa\u{308}ssword"] {
            let key = try deriver.key(from: Secret(passphrase), salt: salt, parameters: parameters)
            #expect(key.hexadecimal.reveal() == expected)
        }
        #expect(deriver.derivationCount == 1)
    }

    @Test("Rule 32: many concurrent uses of one passphrase cost one derivation")
    func once() async throws {
        let parameters = try #require(cheap)
        let deriver = PassphraseDeriver()
        let salt = salt
        try await withThrowingTaskGroup(of: EncryptionKey.self) { group in
            for _ in 0..<16 {
                group.addTask { try deriver.key(from: Secret("once"), salt: salt, parameters: parameters) }
            }
            try await group.waitForAll()
        }
        #expect(deriver.derivationCount == 1)
        _ = try deriver.key(from: Secret("twice"), salt: salt, parameters: parameters)
        _ = try deriver.key(from: Secret("once"), salt: salt.reversed(), parameters: parameters)
        #expect(deriver.derivationCount == 3)
        deriver.forgetAll()
        _ = try deriver.key(from: Secret("once"), salt: salt, parameters: parameters)
        #expect(deriver.derivationCount == 4)
    }

    @Test("Parameters out of range are refused before memory is taken")
    func ranges() throws {
        let bad: [(UInt8, UInt32, UInt32)] = [
            (9, 8, 1), (21, 8, 1), (15, 0, 1), (15, 33, 1), (15, 8, 0), (15, 8, 17), (20, 32, 1), (255, 1, 1),
            // One step beyond the memory, and beyond the work.
            (19, 8, 1), (18, 9, 1), (18, 8, 2), (15, 8, 9), (15, 32, 3),
        ]
        for (exponent, size, lanes) in bad {
            #expect(throws: SecretError.self) {
                try ScryptParameters(costExponent: exponent, blockSize: size, parallelization: lanes)
            }
        }
        _ = try ScryptParameters(costExponent: 18, blockSize: 8, parallelization: 1)
        _ = try ScryptParameters(costExponent: 15, blockSize: 8, parallelization: 8)
    }

    @Test("An empty passphrase and a short salt are refused")
    func badInput() {
        let deriver = PassphraseDeriver()
        #expect(throws: SecretError.emptyPassphrase) {
            try deriver.key(from: Secret(""), salt: salt, parameters: .standard)
        }
        #expect(throws: SecretError.saltLength(bytes: 3)) {
            try deriver.key(from: Secret("x"), salt: [1, 2, 3], parameters: .standard)
        }
    }
}

@Suite("Key envelopes")
struct KeyEnvelopeTests {
    private let dataKey = EncryptionKey.generate()
    private let context = Array("context".utf8)

    /// Data key 32 × 22, passphrase "a", N = 2^10, r = 8, p = 1, salt 16 × 33, nonce 12 × 44: computed with Python.
    private static let sealedWithA: [UInt8] = [
        0x4f, 0x50, 0x4b, 0x45, 0x01, 0x01, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01,
        0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33,
        0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x23, 0xa8, 0x31, 0x1f,
        0xd4, 0x9c, 0x69, 0xf7, 0x96, 0x6c, 0xec, 0x58, 0x81, 0xfb, 0x99, 0x45, 0xe9, 0x44, 0x01, 0x4b,
        0x21, 0x0c, 0xc6, 0xc1, 0xe6, 0x2e, 0x14, 0x10, 0x13, 0x87, 0xa1, 0x96, 0xd2, 0x3e, 0xd3, 0xb2,
        0xa2, 0x53, 0x6b, 0x5e, 0x87, 0xb0, 0xb1, 0x32, 0xac, 0x8f, 0x59, 0x2d,
    ]

    @Test("A key opens its envelope, another key does not")
    func underKey() throws {
        let key = EncryptionKey.generate()
        let stored = try KeyEnvelope.seal(dataKey, with: .key(key), context: context).bytes
        #expect(stored.count == KeyEnvelope.byteCount)
        let envelope = try KeyEnvelope(bytes: stored)
        #expect(try envelope.open(with: .key(key), context: context) == dataKey)
        #expect(throws: SecretError.wrongKey) {
            try envelope.open(with: .key(.generate()), context: context)
        }
        #expect(throws: SecretError.wrongKey) { try envelope.open(with: .key(key), context: []) }
        #expect(throws: SecretError.wrongKindOfKey(expected: .key)) {
            try envelope.open(with: .passphrase(Secret("x")), context: context)
        }
    }

    @Test("A passphrase opens its envelope with the parameters stored in it")
    func underPassphrase() throws {
        let parameters = try #require(cheap)
        let deriver = PassphraseDeriver()
        let stored = try KeyEnvelope.seal(
            dataKey, with: .passphrase(Secret("open sesame")), context: context, derivation: parameters,
            deriver: deriver)
        let envelope = try KeyEnvelope(bytes: stored.bytes)
        #expect(envelope.derivation == parameters)
        #expect(
            try envelope.open(with: .passphrase(Secret("open sesame")), context: context, deriver: deriver) == dataKey)
        #expect(deriver.derivationCount == 1)
        #expect(throws: SecretError.wrongKey) {
            try envelope.open(with: .passphrase(Secret("shut sesame")), context: context, deriver: deriver)
        }
        #expect(throws: SecretError.wrongKindOfKey(expected: .passphrase)) {
            try envelope.open(with: .key(.generate()), context: context, deriver: deriver)
        }
    }

    @Test(
        "A short passphrase seals no new envelope and still opens older ones",
        arguments: [("", 0), ("a", 1), ("1234567", 7), ("       x       ", 1), ("a\u{308}bcdefg", 7)])
    func shortPassphrase(text: String, length: Int) throws {
        let expected = text.isEmpty ? SecretError.emptyPassphrase : .shortPassphrase(length: length, minimum: 8)
        #expect(throws: expected) {
            try KeyEnvelope.seal(dataKey, with: .passphrase(Secret(text)), context: context)
        }
    }

    @Test("A passphrase needs eight code points, and older short ones still open their envelopes")
    func enoughPassphrase() throws {
        try KeySource.passphrase(Secret("12345678")).requireFitForSealing()
        let stored = try KeyEnvelope(bytes: Self.sealedWithA)
        #expect(
            try stored.open(with: .passphrase(Secret("a")), context: context).hexadecimal.reveal()
                == String(repeating: "22", count: 32))
    }

    @Test("Every flipped bit of an envelope is detected")
    func tamper() throws {
        let key = EncryptionKey.generate()
        let bytes = try KeyEnvelope.seal(dataKey, with: .key(key), context: context).bytes
        for bit in 0..<(bytes.count * 8) {
            var altered = bytes
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: SecretError.self) {
                try KeyEnvelope(bytes: altered).open(
                    with: .key(key), context: context, deriver: PassphraseDeriver())
            }
        }
    }

    @Test("A truncated envelope is refused at every length")
    func truncated() throws {
        let bytes = try KeyEnvelope.seal(dataKey, with: .key(.generate()), context: context).bytes
        for count in 0..<bytes.count {
            #expect(throws: SecretError.self) { try KeyEnvelope(bytes: Array(bytes[..<count])) }
        }
    }
}
