import Foundation

/// The requirements for a vault's password, as set by an administrator.
///
/// The defaults require a password, but no properties of it: ``defaultPasswordAllowed`` is `false`.
///
/// ```swift
/// var policy = PasswordPolicy()
/// policy.minLength = 8
/// policy.hasDigits = true
/// ```
public struct PasswordPolicy: Equatable, Codable, Sendable {
    /// Whether the vault may be opened with the platform's key alone. Length and kinds of characters are then
    /// not checked; ``minUniqueChars`` and ``expirationDays`` are.
    public var defaultPasswordAllowed = false
    /// The minimum number of user-perceived characters.
    public var minLength = 0
    /// Whether a digit of any script is required.
    public var hasDigits = false
    /// Whether an upper-case letter is required.
    public var hasUpper = false
    /// Whether a lower-case letter is required.
    public var hasLower = false
    /// Whether one of ``specialCharacters`` is required.
    public var hasSpecial = false
    /// The number of days that a password is valid, from the day it was set; checked at unlocking. 0 for no
    /// limit.
    public var expirationDays = 0
    /// The minimum number of different characters: with 4, `aaate` and `ababa` fail and `aaord` passes. The
    /// platform's key counts as ``platformKeyUniqueCharacters`` characters.
    public var minUniqueChars = 0
    /// The number of seconds after unlocking at which a vault locks itself; 0 for never.
    public var lockTimeout = 0
    /// The number of consecutive wrong passwords at which the vault is destroyed; 0 for no limit.
    public var retryLimit = 0

    /// The complete list of the 13 special characters.
    public static let specialCharacters = "~!@#$%^&*()-+"
    /// The number of different characters that the platform's key counts as: it is a number of 64 hexadecimal
    /// digits.
    public static let platformKeyUniqueCharacters = 16
    private static let secondsPerDay = 86_400.0

    /// Creates a policy with the defaults.
    public init() {}

    /// Returns all violations of a password, in the order of their codes.
    ///
    /// - Parameters:
    ///   - credentials: The password, if any. The salt is not checked.
    ///   - age: The seconds since the password was set; `nil` for a new password, which cannot have expired.
    /// - Returns: An empty array if the password meets the policy.
    public func violations(of credentials: VaultCredentials, age: Double? = nil) -> [PasswordViolation] {
        var violations: [PasswordViolation] = []
        func demand(_ isFulfilled: Bool, _ violation: PasswordViolation) {
            if !isFulfilled { violations.append(violation) }
        }
        if let password = credentials.password?.reveal().precomposedStringWithCanonicalMapping {
            demand(password.count >= minLength, .tooShort)
            demand(!hasDigits || password.contains { $0.isWholeNumber }, .digitMissing)
            demand(!hasUpper || password.contains { $0.isUppercase }, .upperCaseMissing)
            demand(!hasLower || password.contains { $0.isLowercase }, .lowerCaseMissing)
            demand(!hasSpecial || password.contains { Self.specialCharacters.contains($0) }, .specialMissing)
            demand(Set(password).count >= minUniqueChars, .tooFewUnique)
        } else if defaultPasswordAllowed {
            demand(Self.platformKeyUniqueCharacters >= minUniqueChars, .tooFewUnique)
        } else {
            return [.required]
        }
        if expirationDays > 0, let age {
            demand(age <= Double(expirationDays) * Self.secondsPerDay, .expired)
        }
        return violations
    }

    /// The numeric fields by their names.
    private var numbers: [(field: String, value: Int)] {
        [
            ("minLength", minLength), ("expirationDays", expirationDays), ("minUniqueChars", minUniqueChars),
            ("lockTimeout", lockTimeout), ("retryLimit", retryLimit),
        ]
    }

    /// Throws if a number is negative.
    func check() throws(DataVaultError) {
        for number in numbers where number.value < 0 {
            throw .negativeNumber(field: number.field, value: number.value)
        }
    }
}
