public import Crypto

/// A key of 256 bits for AES-256-GCM.
///
/// The bytes are stored in swift-crypto's `SymmetricKey`, which overwrites them when the last copy is released.
/// The caller must wipe its own copies: the bytes that it passed, and any that it copied in
/// ``withUnsafeBytes(_:)``.
///
/// ```swift
/// let key = EncryptionKey.generate()
/// let text = key.hexadecimal.reveal()  // keep it where only the user can read it
/// let same = try EncryptionKey(hexadecimal: text)
/// ```
public struct EncryptionKey: Sendable {
    /// The number of bytes of a key.
    public static let byteCount = 32

    /// The key in the form that the ciphers of swift-crypto and CryptoKit accept.
    public let symmetricKey: SymmetricKey

    private init(symmetricKey: SymmetricKey) {
        self.symmetricKey = symmetricKey
    }

    /// Creates a key from a swift-crypto key, such as the result of a key derivation.
    ///
    /// - Parameter symmetricKey: A key of 256 bits.
    /// - Throws: ``SecretError/keyLength(bytes:)`` for a key of another size.
    public init(_ symmetricKey: SymmetricKey) throws(SecretError) {
        guard symmetricKey.bitCount == Self.byteCount * 8 else {
            throw SecretError.keyLength(bytes: symmetricKey.bitCount / 8)
        }
        self.init(symmetricKey: symmetricKey)
    }

    /// Creates a key from bytes.
    ///
    /// - Parameter bytes: Exactly 32 bytes.
    /// - Throws: ``SecretError/keyLength(bytes:)`` for any other number of bytes.
    public init(bytes: some Collection<UInt8>) throws(SecretError) {
        guard bytes.count == Self.byteCount else { throw SecretError.keyLength(bytes: bytes.count) }
        var copy = Array(bytes)
        self.init(symmetricKey: SymmetricKey(data: copy))
        wipe(&copy)
    }

    /// Creates a key from hexadecimal digits in either case.
    ///
    /// - Parameter hexadecimal: Exactly 64 digits and no other characters.
    /// - Throws: ``SecretError/hexadecimalLength(digits:)`` or ``SecretError/hexadecimalDigit(position:)``.
    public init(hexadecimal: some StringProtocol) throws(SecretError) {
        let digits = Array(hexadecimal.utf8)
        guard digits.count == Self.byteCount * 2 else {
            throw SecretError.hexadecimalLength(digits: hexadecimal.count)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        var high: UInt8 = 0
        for (position, digit) in digits.enumerated() {
            guard let value = Self.hexadecimalValue(digit) else {
                throw SecretError.hexadecimalDigit(position: position)
            }
            if position % 2 == 0 {
                high = value
            } else {
                bytes.append(high << 4 | value)
            }
        }
        self.init(symmetricKey: SymmetricKey(data: bytes))
        wipe(&bytes)
    }

    /// Returns a new key from the system's random number generator.
    ///
    /// - Returns: 256 random bits.
    public static func generate() -> EncryptionKey {
        EncryptionKey(symmetricKey: SymmetricKey(size: .bits256))
    }

    /// Calls `body` with the 32 bytes of the key, without copying them.
    ///
    /// - Parameter body: A function that reads the bytes; the buffer is valid only during the call.
    /// - Returns: The result of `body`.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try symmetricKey.withUnsafeBytes(body)
    }

    /// The key as 64 lower-case hexadecimal digits, the form in a key file.
    public var hexadecimal: Secret<String> {
        let digits = Array("0123456789abcdef".utf8)
        return withUnsafeBytes { bytes in
            var text: [UInt8] = []
            text.reserveCapacity(bytes.count * 2)
            for byte in bytes {
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
            return Secret(String(decoding: text, as: UTF8.self))
        }
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension EncryptionKey: Equatable {
    /// Compares two keys in constant time.
    public static func == (left: EncryptionKey, right: EncryptionKey) -> Bool {
        left.symmetricKey == right.symmetricKey
    }
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// Always `‹redacted›`.
    public var debugDescription: String { redactedText }

    /// A mirror that contains only `‹redacted›`.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct)
    }
}
