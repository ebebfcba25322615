import Foundation
import Secrets
import Testing

@testable import DataVault

/// The requirements of the secure vault, by their numbers (OData SDK, section 16).
@Suite("The secure vault, requirement by requirement")
struct RequirementTests {
    @Test("1 Named vaults are created, opened and deleted; a new vault is unlocked; deletion needs no password")
    func names() async throws {
        let fixture = try VaultFixture()
        let vaults = fixture.folder
        #expect(!vaults.contains("login"))
        #expect(try vaults.names() == [])
        #expect(throws: DataVaultError.noVault(name: "login")) { try vaults.open("login") }
        let vault = try await vaults.create("login", .old)
        #expect(await !vault.isLocked)
        #expect(vaults.contains("login"))
        for (name, expected) in [
            ("login", DataVaultError.alreadyExists(name: "login")), ("", .illegalName("", position: 0)),
        ] {
            let error = await #expect(throws: expected) { try await vaults.create(name, .new) }
            #expect(error?.isInvalidArgument == true)
        }
        _ = try await vaults.create("other")
        #expect(try vaults.names() == ["login", "other"])
        #expect(try await vaults.open("login").isLocked)
        try await vaults.delete("login")
        #expect(!vaults.contains("login"))
        await #expect(throws: DataVaultError.noVault(name: "login")) { try await vaults.delete("login") }
        #expect(try vaults.names() == ["other"])
    }

    @Test("2 Content is encrypted with AES-256-GCM and scrypt, and each vault stores its parameters")
    func encryption() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setString("a secret value", named: "a secret name")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path("v.vault"))))
        let file = try VaultFile(bytes: bytes, path: "v")
        #expect(file.header.derivation == (try VaultFixture.cheap()))
        #expect(Data(bytes).range(of: Data("a secret".utf8)) == nil)

        // A stronger cost applies to new passwords; vaults with the old cost remain readable.
        let stronger = try ScryptParameters(costExponent: 11, blockSize: 2, parallelization: 1)
        let later = try VaultFolder(
            directory: fixture.directory, keys: fixture.folder.keys, derivation: stronger)
        let again = try later.open("v")
        try await again.changePassword(from: .old, to: .new)
        let changed = try VaultFile(
            bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path("v.vault")))), path: "v")
        #expect(changed.header.derivation == stronger)
        try await again.unlock(.new)
    }

    @Test("3 A locked vault refuses all reads and changes, and locking twice is allowed")
    func locking() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setString("1", named: "a")
        await vault.lock()
        await vault.lock()
        #expect(await vault.isLocked)
        #expect(await vault.opened == nil)
        let locked = DataVaultError.locked(name: "v")
        await #expect(throws: locked) { try await vault.string(named: "a") }
        await #expect(throws: locked) { try await vault.data(named: "a") }
        await #expect(throws: locked) { try await vault.items }
        await #expect(throws: locked) { try await vault.setString("2", named: "a") }
        await #expect(throws: locked) { try await vault.setData([2], named: "a") }
        await #expect(throws: locked) { try await vault.removeValue(named: "a") }
        await #expect(throws: locked) { try await vault.key(named: "k") }
        await #expect(throws: locked) { try await vault.isDefaultPasswordUsed }
        await #expect(throws: locked) { try await vault.passwordPolicy }
        await #expect(throws: locked) { try await vault.setPasswordPolicy(PasswordPolicy()) }
        await #expect(throws: locked) { try await vault.setLockTimeout(1) }
        await #expect(throws: locked) { try await vault.setRetryLimit(1) }
        await #expect(throws: locked) { try await vault.changePassword(to: .new) }
        try await vault.unlock(.old)
        #expect(try await vault.string(named: "a") == "1")
    }

    @Test("4 A wrong password and a wrong salt give the same error")
    func oneError() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", VaultCredentials(password: "p", salt: "s"))
        for credentials in [
            VaultCredentials(password: "P", salt: "s"), VaultCredentials(password: "p", salt: "S"),
            VaultCredentials(password: "p"), VaultCredentials(password: nil, salt: "s"), .platformKey,
            VaultCredentials(password: "ps"), VaultCredentials(password: "s", salt: "p"),
        ] {
            await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: nil)) {
                try await vault.unlock(credentials)
            }
        }
        try await vault.unlock(VaultCredentials(password: "p", salt: "s"))
    }

    @Test("5 The third wrong password of three destroys the vault, also after restarts; a right one resets the count")
    func retryLimit() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setRetryLimit(3)
        await vault.lock()
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: 2)) {
            try await vault.unlock(.wrong)
        }
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: 1)) {
            try await vault.unlock(.wrong)
        }
        try await vault.unlock(.old)
        // Each attempt uses a new object, like an attempt by another process.
        for left in [2, 1] {
            await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: left)) {
                try await fixture.folder.open("v").unlock(.wrong)
            }
        }
        await #expect(throws: DataVaultError.destroyed(name: "v")) { try await fixture.folder.open("v").unlock(.wrong) }
        #expect(!fixture.folder.contains("v"))
        await #expect(throws: DataVaultError.noVault(name: "v")) { try await vault.unlock(.old) }
        #expect(try fixture.folder.keys.names() == [])
    }

    @Test("5 Without a limit, wrong passwords never destroy a vault")
    func noLimit() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        for _ in 0..<30 {
            await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: nil)) {
                try await vault.unlock(.wrong)
            }
        }
        try await vault.unlock(.old)
    }

    @Test("6 A vault locks itself after its time-out, and a reset restarts the time-out")
    func autoLock() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setLockTimeout(60)
        fixture.clock.advance(59)
        #expect(await !vault.isLocked)
        try await vault.resetLockTimeout()
        fixture.clock.advance(59)
        // Using the vault does not extend the time-out, which starts at the unlocking.
        _ = try await vault.items
        fixture.clock.advance(1)
        #expect(await vault.isLocked)
        await #expect(throws: DataVaultError.locked(name: "v")) { try await vault.resetLockTimeout() }
        try await vault.unlock(.old)
        fixture.clock.advance(60)
        // The key is removed from memory without any call.
        for _ in 0..<6000 where await vault.opened != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await vault.opened == nil)
        try await vault.unlock(.old)
        try await vault.setLockTimeout(0)
        fixture.clock.advance(1e9)
        #expect(await !vault.isLocked)
    }

    @Test("6 Setting the clock back does not extend a time-out")
    func clockSetBack() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setLockTimeout(60)
        fixture.clock.setWallClock(by: -1e6)
        fixture.clock.advance(60)
        #expect(await vault.isLocked)
    }

    @Test("7 Values are texts or bytes, are listed by name and type, and are deleted one by one")
    func values() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setString("grüße 👋", named: "text")
        try await vault.setData([0, 255, 10], named: "bytes")
        try await vault.setString("", named: "empty")
        #expect(try await vault.string(named: "text") == "grüße 👋")
        #expect(try await vault.data(named: "bytes") == [0, 255, 10])
        #expect(try await vault.string(named: "empty") == "")
        #expect(try await vault.string(named: "bytes") == nil)
        #expect(try await vault.data(named: "text") == nil)
        #expect(try await vault.string(named: "absent") == nil)
        #expect(
            try await vault.items == [
                VaultItem(name: "bytes", type: .binary), VaultItem(name: "empty", type: .string),
                VaultItem(name: "text", type: .string),
            ])
        #expect(try await vault.removeValue(named: "text"))
        #expect(try await !vault.removeValue(named: "text"))
        try await vault.setData([1], named: "empty")
        #expect(try await vault.items.map(\.type) == [.binary, .binary])
        await #expect(throws: DataVaultError.illegalValueName(bytes: 0)) { try await vault.setString("x", named: "") }
        let long = String(repeating: "n", count: 257)
        await #expect(throws: DataVaultError.illegalValueName(bytes: 257)) {
            try await vault.setString("x", named: long)
        }
        let limit = DataVaultLimits.maximumSecretByteCount
        try await vault.setData([UInt8](repeating: 7, count: limit), named: "big")
        await #expect(throws: DataVaultError.tooLong(name: "big", bytes: limit + 1)) {
            try await vault.setData([UInt8](repeating: 7, count: limit + 1), named: "big")
        }
        for index in 0..<62 { try await vault.setData([UInt8](repeating: 7, count: limit), named: "big\(index)") }
        await #expect {
            for index in 62..<70 { try await vault.setData([UInt8](repeating: 7, count: limit), named: "big\(index)") }
        } throws: {
            guard case .full? = $0 as? DataVaultError else { return false }
            return true
        }
        #expect(try await vault.data(named: "big61")?.count == limit)
    }

    @Test("7 A key is created once, is stored as bytes and never replaces another value")
    func keys() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let key = try await vault.key(named: "k")
        let file = try Data(contentsOf: URL(fileURLWithPath: fixture.path("v.vault")))
        #expect(try await vault.key(named: "k") == key)
        // Reading a key writes nothing.
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("v.vault"))) == file)
        #expect(try await vault.data(named: "k") == key.withUnsafeBytes { Array($0) })
        try await vault.setString("no key", named: "text")
        try await vault.setData([1, 2, 3], named: "short")
        for name in ["text", "short"] {
            await #expect(throws: DataVaultError.notAKey(name: name)) { try await vault.key(named: name) }
        }
        let other = try fixture.folder.open("v")
        try await other.unlock(.old)
        async let first = vault.key(named: "new")
        async let second = other.key(named: "new")
        #expect(try await first == second)
    }

    @Test("8 The password is changed while unlocked, or while locked with the current password")
    func passwordChange() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setString("1", named: "a")
        try await vault.changePassword(to: .new)
        #expect(try await vault.string(named: "a") == "1")
        await vault.lock()
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: nil)) {
            try await vault.unlock(.old)
        }
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: nil)) {
            try await vault.changePassword(from: .old, to: .wrong)
        }
        try await vault.changePassword(from: .new, to: .old)
        #expect(await !vault.isLocked)
        #expect(try await vault.string(named: "a") == "1")
        await #expect(throws: DataVaultError.emptyPassword(name: "v")) {
            try await vault.changePassword(to: VaultCredentials(password: "", salt: "s"))
        }
    }

    @Test("9 A policy with a negative number is refused")
    func negativeNumbers() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let fields: [(String, WritableKeyPath<PasswordPolicy, Int>)] = [
            ("minLength", \.minLength), ("expirationDays", \.expirationDays), ("minUniqueChars", \.minUniqueChars),
            ("lockTimeout", \.lockTimeout), ("retryLimit", \.retryLimit),
        ]
        for (name, field) in fields {
            var policy = PasswordPolicy()
            policy[keyPath: field] = -1
            await #expect(throws: DataVaultError.negativeNumber(field: name, value: -1)) {
                try await vault.setPasswordPolicy(policy)
            }
        }
        #expect(await !vault.isLocked)
        await #expect(throws: DataVaultError.negativeNumber(field: "lockTimeout", value: -5)) {
            try await vault.setLockTimeout(-5)
        }
        await #expect(throws: DataVaultError.negativeNumber(field: "retryLimit", value: -5)) {
            try await vault.setRetryLimit(-5)
        }
    }

    @Test("9 All ten fields of a policy are stored, and a vault without a policy has the defaults")
    func policyIsKept() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        #expect(try await vault.passwordPolicy == PasswordPolicy())
        var policy = PasswordPolicy()
        policy.defaultPasswordAllowed = true
        policy.minLength = 4
        policy.hasDigits = true
        policy.hasUpper = true
        policy.hasLower = true
        policy.hasSpecial = true
        policy.expirationDays = 20
        policy.minUniqueChars = 3
        policy.lockTimeout = 1600
        policy.retryLimit = 20
        try await vault.setPasswordPolicy(policy)
        try await vault.changePassword(from: .old, to: VaultCredentials(password: "Ab1!"))
        #expect(try await vault.passwordPolicy == policy)
    }

    @Test("10 Setting a policy locks the vault and keeps the age of the password")
    func policy() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let elsewhere = try fixture.folder.open("v")
        try await elsewhere.unlock(.old)
        var policy = PasswordPolicy()
        policy.hasDigits = true
        policy.expirationDays = 10
        try await vault.setPasswordPolicy(policy)
        #expect(await vault.isLocked)
        #expect(await elsewhere.isLocked)
        let violation = DataVaultError.incompatiblePassword(name: "v", [.digitMissing])
        await #expect(throws: violation) { try await vault.unlock(.old) }
        #expect(await vault.isLocked)
        await #expect(throws: violation) { try await vault.changePassword(from: .old, to: .wrong) }
        #expect(await vault.isLocked)
        let good = VaultCredentials(password: "digit 1")
        try await vault.changePassword(from: .old, to: good)
        await #expect(throws: violation) { try await vault.changePassword(to: .wrong) }
        #expect(await !vault.isLocked)
        await vault.lock()
        fixture.clock.advance(10 * 86_400)
        try await vault.unlock(good)
        fixture.clock.advance(1)
        await #expect(throws: DataVaultError.incompatiblePassword(name: "v", [.expired])) {
            try await vault.unlock(good)
        }
        // Setting the clock back does not make the password younger.
        fixture.clock.setWallClock(by: -86_400 * 5)
        await #expect(throws: DataVaultError.incompatiblePassword(name: "v", [.expired])) {
            try await vault.unlock(good)
        }
        try await vault.changePassword(from: good, to: VaultCredentials(password: "digit 2"))
        await vault.lock()
        try await vault.unlock(VaultCredentials(password: "digit 2"))
    }

    @Test("10 The time-out and limit of a policy override those of the vault")
    func policyOverrides() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setLockTimeout(5)
        try await vault.setRetryLimit(1)
        var policy = PasswordPolicy()
        policy.lockTimeout = 50
        policy.retryLimit = 2
        try await vault.setPasswordPolicy(policy)
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: 1)) {
            try await vault.unlock(.wrong)
        }
        try await vault.unlock(.old)
        fixture.clock.advance(49)
        #expect(await !vault.isLocked)
        fixture.clock.advance(1)
        #expect(await vault.isLocked)
    }

    @Test("11 The codes are 50 to 57, all violations are reported, and the first one is the code")
    func codes() async throws {
        #expect(PasswordViolation.allCases.map(\.rawValue) == Array(50...57))
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        var policy = PasswordPolicy()
        policy.minLength = 100
        policy.hasUpper = true
        policy.minUniqueChars = 50
        try await vault.setPasswordPolicy(policy)
        let error = await #expect(throws: DataVaultError.self) { try await vault.unlock(.old) }
        #expect(error == .incompatiblePassword(name: "v", [.tooShort, .upperCaseMissing, .tooFewUnique]))
        #expect(error?.code == 51)
    }

    @Test("12 A vault without a password is opened by a random key in the key store")
    func platformKey() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v")
        #expect(try await vault.isDefaultPasswordUsed)
        #expect(try !fixture.folder.hasPassword("v"))
        #expect(throws: DataVaultError.noVault(name: "none")) { try fixture.folder.hasPassword("none") }
        try await vault.setString("1", named: "a")
        await vault.lock()
        try await vault.unlock(.platformKey)
        try await vault.unlock(VaultCredentials(password: "", salt: ""))
        try await vault.changePassword(to: .new)
        #expect(try await !vault.isDefaultPasswordUsed)
        #expect(try fixture.folder.hasPassword("v"))
        try await vault.changePassword(from: .new, to: VaultCredentials(password: nil, salt: "s"))
        #expect(try await !vault.isDefaultPasswordUsed)
        try await vault.changePassword(from: VaultCredentials(password: nil, salt: "s"), to: .platformKey)
        #expect(try await vault.isDefaultPasswordUsed)
        await vault.lock()
        // The key is random: it differs from that of another vault and cannot be computed.
        let other = try await fixture.folder.create("w")
        _ = other
        let keys = try fixture.folder.keys.names().filter { !$0.text.hasSuffix(".tries") }
        #expect(keys.count == 2)
        #expect(
            try fixture.folder.keys.secret(named: keys[0])?.reveal()
                != fixture.folder.keys.secret(named: keys[1])?.reveal())
        for name in keys { try fixture.folder.keys.set(Secret([UInt8](repeating: 0, count: 32)), named: name) }
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: nil)) {
            try await vault.unlock(.platformKey)
        }
        for name in keys { try fixture.folder.keys.remove(named: name) }
        await #expect(throws: DataVaultError.keysMissing(name: "v")) { try await vault.unlock(.platformKey) }
    }

    @Test("13 On Linux, keys are private files, sealed under a master key if there is one")
    func masterKey() async throws {
        let fixture = try VaultFixture()
        let files = try FileSecretStore(directory: fixture.path("sealed"))
        let master = EncryptionKey.generate()
        func folder(_ key: EncryptionKey) throws -> VaultFolder {
            try VaultFolder(
                directory: fixture.directory, keys: SealedSecretStore(files, masterKey: key),
                derivation: VaultFixture.cheap())
        }
        let vault = try await folder(master).create("v")
        try await vault.setString("1", named: "a")
        for name in try files.names() {
            let attributes = try FileManager.default.attributesOfItem(atPath: files.directory + "/" + name.text)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        try await folder(master).open("v").unlock(.platformKey)
        #expect(throws: DataVaultError.self) { try folder(.generate()).open("v") }
    }

    @Test("14 Users of one folder share its vaults, and see the deletion of a vault")
    func sharing() async throws {
        let fixture = try VaultFixture()
        let mine = try await fixture.folder.create("v", .old)
        let theirs = try fixture.folder.open("v")
        try await theirs.unlock(.old)
        try await theirs.setString("theirs", named: "a")
        #expect(try await mine.string(named: "a") == "theirs")
        try await fixture.folder.delete("v")
        for vault in [mine, theirs] {
            #expect(await vault.isLocked)
            await #expect(throws: DataVaultError.noVault(name: "v")) { try await vault.string(named: "a") }
            await #expect(throws: DataVaultError.noVault(name: "v")) { try await vault.unlock(.old) }
        }
        // A new vault with the same name is a different vault, also for objects that had the old one open.
        _ = try await fixture.folder.create("v", .new)
        await #expect(throws: DataVaultError.locked(name: "v")) { try await mine.string(named: "a") }
    }

    @Test("15 A password change locks the vault for its other users without losing their changes")
    func severalUsers() async throws {
        let fixture = try VaultFixture()
        let first = try await fixture.folder.create("v", .old)
        let second = try fixture.folder.open("v")
        try await second.unlock(.old)
        await withTaskGroup { group in
            for index in 0..<20 {
                group.addTask { try? await first.setString("\(index)", named: "first \(index)") }
                group.addTask { try? await second.setString("\(index)", named: "second \(index)") }
            }
        }
        #expect(try await first.items.count == 40)
        try await first.changePassword(to: .new)
        #expect(await second.isLocked)
        await #expect(throws: DataVaultError.locked(name: "v")) { try await second.setString("x", named: "y") }
        try await second.unlock(.new)
        #expect(try await second.items.count == 40)
    }

    @Test("16 An untyped value of an older product is read as text if possible, else as bytes")
    func untyped() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setUntyped(Array("früher".utf8), named: "text")
        try await vault.setUntyped([0xFF, 0xFE], named: "bytes")
        #expect(try await vault.items.map(\.type) == [.unknown, .unknown])
        #expect(try await vault.string(named: "text") == "früher")
        #expect(try await vault.data(named: "text") == Array("früher".utf8))
        #expect(try await vault.string(named: "bytes") == nil)
        #expect(try await vault.data(named: "bytes") == [0xFF, 0xFE])
    }

    @Test("17 A vault is an actor, and its functions throw one type of error")
    func typedThrows() async throws {
        let fixture = try VaultFixture()
        let vault: any Actor & AnyObject = try await fixture.folder.create("v", .old)
        guard let vault = vault as? Vault else { return }
        await vault.lock()
        do throws(DataVaultError) {
            try await vault.unlock(.wrong)
            Issue.record("a wrong password was accepted")
        } catch {
            // The compiler infers the error type; no cast is needed.
            let code: Int? = error.code
            #expect(code == nil)
            #expect(error == .wrongPassword(name: "v", attemptsLeft: nil))
        }
    }
}
