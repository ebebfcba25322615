import Secrets
import Testing

private let cheap = try? ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)

@Suite("Passphrase derivation")
struct PassphraseDeriverTests {
    private let salt = [UInt8](0..<16)

    @Test("The key is scrypt's, of the passphrase in form C")
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
        ]
        for (exponent, size, lanes) in bad {
            #expect(throws: SecretError.self) {
                try ScryptParameters(costExponent: exponent, blockSize: size, parallelization: lanes)
            }
        }
        _ = try ScryptParameters(costExponent: 19, blockSize: 8, parallelization: 1)
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
            dataKey, with: .passphrase(Secret("open")), context: context, derivation: parameters, deriver: deriver)
        let envelope = try KeyEnvelope(bytes: stored.bytes)
        #expect(envelope.derivation == parameters)
        #expect(try envelope.open(with: .passphrase(Secret("open")), context: context, deriver: deriver) == dataKey)
        #expect(deriver.derivationCount == 1)
        #expect(throws: SecretError.wrongKey) {
            try envelope.open(with: .passphrase(Secret("shut")), context: context, deriver: deriver)
        }
        #expect(throws: SecretError.wrongKindOfKey(expected: .passphrase)) {
            try envelope.open(with: .key(.generate()), context: context, deriver: deriver)
        }
    }

    @Test("Every flipped bit of an envelope is noticed")
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
