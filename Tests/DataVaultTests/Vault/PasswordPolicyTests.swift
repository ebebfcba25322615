import Secrets
import Testing

@testable import DataVault

@Suite("Password policies, code by code")
struct PasswordPolicyTests {
    private func violations(
        _ password: String?, age: Double? = nil, _ change: (inout PasswordPolicy) -> Void
    ) -> [PasswordViolation] {
        var policy = PasswordPolicy()
        change(&policy)
        return policy.violations(of: VaultCredentials(password: password), age: age)
    }

    @Test("50: a missing or empty password is refused, unless the platform's key alone is allowed")
    func required() {
        #expect(violations(nil) { _ in } == [.required])
        #expect(violations("") { $0.minLength = 4 } == [.required])
        #expect(violations(nil) { $0.defaultPasswordAllowed = true } == [])
        #expect(PasswordViolation.required.rawValue == 50)
    }

    @Test("51: a password that is too short, counted in characters")
    func length() {
        #expect(violations("abc") { $0.minLength = 4 } == [.tooShort])
        #expect(violations("abcd") { $0.minLength = 4 } == [])
        #expect(violations("äöü") { $0.minLength = 4 } == [.tooShort])
        #expect(violations("👩‍👩‍👧‍👦bcd") { $0.minLength = 4 } == [])
        #expect(PasswordViolation.tooShort.rawValue == 51)
    }

    @Test("52: a password without a digit")
    func digit() {
        #expect(violations("abc") { $0.hasDigits = true } == [.digitMissing])
        #expect(violations("ab3") { $0.hasDigits = true } == [])
        #expect(PasswordViolation.digitMissing.rawValue == 52)
    }

    @Test("53: a password without an upper-case letter")
    func upper() {
        #expect(violations("abc1!") { $0.hasUpper = true } == [.upperCaseMissing])
        #expect(violations("abÇ") { $0.hasUpper = true } == [])
        #expect(PasswordViolation.upperCaseMissing.rawValue == 53)
    }

    @Test("54: a password without a lower-case letter")
    func lower() {
        #expect(violations("ABC1!") { $0.hasLower = true } == [.lowerCaseMissing])
        #expect(violations("ABç") { $0.hasLower = true } == [])
        #expect(PasswordViolation.lowerCaseMissing.rawValue == 54)
    }

    @Test("55: a password without one of the thirteen special characters")
    func special() {
        for character in "~!@#$%^&*()-+" { #expect(violations("abc\(character)") { $0.hasSpecial = true } == []) }
        for character in "_=[]{}|;:',.<>/?`\"\\ §€" {
            #expect(violations("abc\(character)") { $0.hasSpecial = true } == [.specialMissing])
        }
        #expect(PasswordPolicy.specialCharacters.count == 13)
        #expect(PasswordViolation.specialMissing.rawValue == 55)
    }

    @Test(
        "56: a password with too few different characters",
        arguments: [("aaate", false), ("ababa", false), ("aaord", true)])
    func unique(password: String, isGood: Bool) {
        #expect(violations(password) { $0.minUniqueChars = 4 } == (isGood ? [] : [.tooFewUnique]))
        #expect(PasswordViolation.tooFewUnique.rawValue == 56)
    }

    @Test("57: a password that is older than its maximum age")
    func expired() {
        let day = 86_400.0
        #expect(violations("a", age: day) { $0.expirationDays = 1 } == [])
        #expect(violations("a", age: day + 1) { $0.expirationDays = 1 } == [.expired])
        #expect(violations("a", age: 1e9) { $0.expirationDays = 0 } == [])
        #expect(violations("a") { $0.expirationDays = 1 } == [])
        #expect(violations("a", age: 1e12) { $0.expirationDays = .max } == [])
        #expect(PasswordViolation.expired.rawValue == 57)
    }

    @Test("With a platform key, only age and the number of different characters are checked")
    func platformKey() {
        func change(_ policy: inout PasswordPolicy) {
            policy.defaultPasswordAllowed = true
            policy.minLength = 1000
            policy.hasDigits = true
            policy.hasUpper = true
            policy.hasLower = true
            policy.hasSpecial = true
        }
        #expect(violations(nil) { change(&$0) } == [])
        #expect(
            violations(nil) {
                change(&$0); $0.minUniqueChars = 16
            } == [])
        #expect(
            violations(nil) {
                change(&$0); $0.minUniqueChars = 17
            } == [.tooFewUnique])
        #expect(
            violations(nil, age: 1e6) {
                change(&$0); $0.expirationDays = 1
            } == [.expired])
        #expect(violations("a") { change(&$0) } == [.tooShort, .digitMissing, .upperCaseMissing, .specialMissing])
    }

    @Test("All violations are reported at once, in the order of their codes")
    func all() {
        let found = violations("", age: 1e9) { $0.defaultPasswordAllowed = false }
        #expect(found == [.required])
        let many = violations(" ", age: 1e9) {
            $0.minLength = 2
            $0.hasDigits = true
            $0.hasUpper = true
            $0.hasLower = true
            $0.hasSpecial = true
            $0.minUniqueChars = 2
            $0.expirationDays = 1
        }
        #expect(many.map(\.rawValue) == Array(51...57))
    }
}
