import Secrets

/// The decrypted content of a vault, which exists only during one call.
///
/// ```
/// bytes
///     1  version, 1
///     8  time of the last password change, seconds since 1970, as the bits of a Double
///     8  lock time-out in seconds, 8 retry limit: the vault's own, used without a policy
///     1  1 if there is a policy, else 0
///    80  the ten fields of the policy, 8 bytes each
///     4  number of values; for each:
///     1    type: 1 text, 2 binary, 3 unknown
///     2    length of the name, the name in UTF-8
///     4    length of the value, the value
/// ```
struct VaultContent {
    struct Value {
        var type: VaultItem.ValueType
        var bytes: [UInt8]
    }

    var passwordSetAt: Double
    var lockTimeout = 0
    var retryLimit = 0
    var policy: PasswordPolicy?
    var values: [String: Value] = [:]

    init(passwordSetAt: Double) {
        self.passwordSetAt = passwordSetAt
    }

    /// The lock time-out in effect: the policy overrides the vault's own.
    var effectiveLockTimeout: Int { policy?.lockTimeout ?? lockTimeout }
    /// The retry limit in effect, clamped to the range of a `TriesRecord`.
    var effectiveRetryLimit: UInt32 { UInt32(clamping: policy?.retryLimit ?? retryLimit) }

    var bytes: [UInt8] {
        var bytes: [UInt8] = [1]
        bytes.reserveCapacity(byteCount)
        bytes += bigEndianBytes(passwordSetAt.bitPattern)
        bytes += bigEndianBytes(Int64(lockTimeout)) + bigEndianBytes(Int64(retryLimit))
        bytes.append(policy == nil ? 0 : 1)
        for number in Self.numbers(policy ?? PasswordPolicy()) { bytes += bigEndianBytes(Int64(number)) }
        bytes += bigEndianBytes(UInt32(clamping: values.count))
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            bytes.append(value.type.code)
            bytes += bigEndianBytes(UInt16(clamping: name.utf8.count))
            bytes += name.utf8
            bytes += bigEndianBytes(UInt32(clamping: value.bytes.count))
            bytes += value.bytes
        }
        return bytes
    }

    /// The length of ``bytes``.
    var byteCount: Int { values.reduce(110) { $0 + 7 + $1.key.utf8.count + $1.value.bytes.count } }

    /// Parses the output of ``bytes``; returns `nil` for other input.
    init?(bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard reader.take(1)?.first == 1, let time = reader.integer(UInt64.self),
            let timeout = reader.number(), let limit = reader.number(), let hasPolicy = reader.take(1)?.first
        else { return nil }
        passwordSetAt = Double(bitPattern: time)
        lockTimeout = timeout
        retryLimit = limit
        var numbers: [Int] = []
        for _ in 0..<10 {
            guard let number = reader.number() else { return nil }
            numbers.append(number)
        }
        policy = hasPolicy == 1 ? Self.policy(numbers) : nil
        guard passwordSetAt.isFinite, hasPolicy <= 1, let count = reader.integer(UInt32.self) else { return nil }
        for _ in 0..<count {
            guard let code = reader.take(1)?.first, let type = VaultItem.ValueType(code: code),
                let length = reader.integer(UInt16.self), let utf8 = reader.take(Int(length)),
                let name = String(validating: utf8, as: UTF8.self),
                let size = reader.integer(UInt32.self), let value = reader.take(Int(size))
            else { return nil }
            values[name] = Value(type: type, bytes: Array(value))
        }
        guard reader.isAtEnd else { return nil }
    }

    /// Overwrites every value.
    mutating func wipeValues() {
        for name in values.keys { Secrets.wipe(&values[name, default: Value(type: .unknown, bytes: [])].bytes) }
    }

    private static func numbers(_ policy: PasswordPolicy) -> [Int] {
        [
            policy.defaultPasswordAllowed ? 1 : 0, policy.minLength, policy.hasDigits ? 1 : 0,
            policy.hasUpper ? 1 : 0, policy.hasLower ? 1 : 0, policy.hasSpecial ? 1 : 0, policy.expirationDays,
            policy.minUniqueChars, policy.lockTimeout, policy.retryLimit,
        ]
    }

    private static func policy(_ numbers: [Int]) -> PasswordPolicy {
        var policy = PasswordPolicy()
        policy.defaultPasswordAllowed = numbers[0] != 0
        policy.minLength = numbers[1]
        policy.hasDigits = numbers[2] != 0
        policy.hasUpper = numbers[3] != 0
        policy.hasLower = numbers[4] != 0
        policy.hasSpecial = numbers[5] != 0
        policy.expirationDays = numbers[6]
        policy.minUniqueChars = numbers[7]
        policy.lockTimeout = numbers[8]
        policy.retryLimit = numbers[9]
        return policy
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= bytes.count - position else { return nil }
            defer { position += count }
            return bytes[position..<(position + count)]
        }

        mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
            take(Integer.bitWidth / 8).map { Integer(bigEndian: $0) }
        }

        /// Reads a number that is not negative and fits into an `Int`.
        mutating func number() -> Int? {
            integer(Int64.self).flatMap { $0 < 0 ? nil : Int(exactly: $0) }
        }
    }
}
