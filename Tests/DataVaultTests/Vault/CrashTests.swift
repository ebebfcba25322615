import Secrets
import Testing

@testable import DataVault

/// The tests crash at every step of a change, with and without loss of unsynced changes.
@Suite("A crash at any step leaves a vault in its old or its new state")
struct VaultCrashTests {
    private let clock = ManualClock()

    private func folder(_ files: MemoryFiles) throws -> VaultFolder {
        let keys = FileSecretStore(directory: "/keys", files: files)
        return VaultFolder(
            directory: "/vaults", keys: keys, tries: keys, derivation: try VaultFixture.cheap(), clock: clock.clock,
            files: files)
    }

    /// Returns all disks that may remain if `change` is interrupted at each of its steps.
    private func crashes(
        of change: (VaultFolder) async throws -> Void, from disk: MemoryFiles
    ) async throws -> [MemoryFiles] {
        var disks: [MemoryFiles] = []
        var steps = 0
        var isComplete = false
        while !isComplete {
            isComplete = true
            for tears in [false, true] {
                let files = disk.restarted { _ in true }
                files.endWorld(after: steps, tears: tears)
                do {
                    try await change(folder(files))
                } catch {
                    isComplete = false
                }
                for kept in 0..<4 { disks.append(files.restarted { kept & ($0 == "/keys" ? 1 : 2) != 0 }) }
            }
            steps += 1
        }
        #expect(steps > 4, "the change has steps at all")
        return disks
    }

    private func prepared() async throws -> MemoryFiles {
        let disk = MemoryFiles()
        let vault = try await folder(disk).create("v", .old)
        try await vault.setString("kept", named: "a")
        return disk
    }

    /// Returns the indices of the credentials that open the vault on a disk, and checks the vault's content.
    private func opening(_ disk: MemoryFiles, _ candidates: [VaultCredentials]) async throws -> [Int] {
        var found: [Int] = []
        for (index, credentials) in candidates.enumerated() {
            let vault = try folder(disk.restarted { _ in true }).open("v")
            do {
                try await vault.unlock(credentials)
                #expect(try await vault.string(named: "a") == "kept")
                found.append(index)
            } catch DataVaultError.wrongPassword {}
        }
        return found
    }

    @Test("If changing the password is interrupted, exactly one of the two passwords opens the vault")
    func passwordChange() async throws {
        let disk = try await prepared()
        var seen: Set<[Int]> = []
        for isLocked in [true, false] {
            let disks = try await crashes(
                of: { folder in
                    let vault = try folder.open("v")
                    if isLocked {
                        try await vault.changePassword(from: .old, to: .new)
                    } else {
                        try await vault.unlock(.old)
                        try await vault.changePassword(to: .new)
                    }
                }, from: disk)
            for disk in disks {
                let opening = try await opening(disk, [.old, .new])
                #expect(opening.count == 1)
                seen.insert(opening)
            }
        }
        #expect(seen == [[0], [1]])
    }

    @Test("If setting a value is interrupted, the vault opens with the old or the new value")
    func value() async throws {
        let disk = try await prepared()
        let disks = try await crashes(
            of: { folder in
                let vault = try folder.open("v")
                try await vault.unlock(.old)
                try await vault.setString("changed", named: "b")
            }, from: disk)
        var seen: Set<String?> = []
        for disk in disks {
            let vault = try folder(disk).open("v")
            try await vault.unlock(.old)
            #expect(try await vault.string(named: "a") == "kept")
            seen.insert(try await vault.string(named: "b"))
        }
        #expect(seen == [nil, "changed"])
    }

    @Test("If setting a policy is interrupted, the policy applies completely or not at all")
    func policy() async throws {
        let disk = try await prepared()
        var policy = PasswordPolicy()
        policy.retryLimit = 2
        policy.minLength = 1
        let disks = try await crashes(
            of: { [policy] folder in
                let vault = try folder.open("v")
                try await vault.unlock(.old)
                try await vault.setPasswordPolicy(policy)
            }, from: disk)
        var seen: Set<Int> = []
        for disk in disks {
            let folder = try folder(disk)
            let vault = try folder.open("v")
            try await vault.unlock(.old)
            let found = try await vault.passwordPolicy
            #expect(found == policy || found == PasswordPolicy())
            seen.insert(found.retryLimit)
            let file = try #require(try folder.file(of: "v"))
            #expect(Int(try folder.record(file, "v").limit) == found.retryLimit)
        }
        #expect(seen == [0, 2])
    }

    @Test("If a creation is interrupted, the vault opens or the name is free")
    func creation() async throws {
        let disks = try await crashes(of: { _ = try await $0.create("v", .old) }, from: MemoryFiles())
        var seen: Set<Bool> = []
        for disk in disks {
            let folder = try folder(disk)
            seen.insert(folder.contains("v"))
            if folder.contains("v") {
                try await folder.open("v").unlock(.old)
            } else {
                _ = try await folder.create("v", .new)
            }
        }
        #expect(seen == [true, false])
    }

    @Test("A vault with an unwritable file leaves no keys")
    func creationWithoutFile() async throws {
        var seen: Set<Bool> = []
        for steps in 0..<8 {
            let (disk, keyDisk) = (MemoryFiles(), MemoryFiles())
            let keys = FileSecretStore(directory: "/keys", files: keyDisk)
            let folder = VaultFolder(
                directory: "/vaults", keys: keys, tries: keys, derivation: try VaultFixture.cheap(), clock: clock.clock,
                files: disk)
            disk.endWorld(after: steps, tears: false)
            _ = try? await folder.create("v", .old)
            // A file that cannot be taken back keeps its keys.
            #expect(try keys.names().isEmpty == !folder.contains("v"), "\(steps)")
            seen.insert(folder.contains("v"))
        }
        #expect(seen == [true, false])
    }

    @Test("If a deletion is interrupted, the vault is complete or gone, and the name can be used again")
    func deletion() async throws {
        let disk = try await prepared()
        let disks = try await crashes(of: { try await $0.delete("v") }, from: disk)
        var seen: Set<Bool> = []
        for disk in disks {
            let folder = try folder(disk)
            seen.insert(folder.contains("v"))
            if folder.contains("v") {
                #expect(try await opening(disk, [.old]) == [0])
            } else {
                #expect(try folder.names() == [])
                _ = try await folder.create("v", .new)
                try await folder.open("v").unlock(.new)
            }
        }
        #expect(seen == [true, false])
    }

    @Test("A counted attempt stays counted: crashes do not raise the limit")
    func attempts() async throws {
        let disk = try await prepared()
        let vault = try folder(disk).open("v")
        try await vault.unlock(.old)
        try await vault.setRetryLimit(3)
        let guess: (VaultFolder) async throws -> Void = { folder in
            do {
                try await folder.open("v").unlock(.wrong)
            } catch DataVaultError.wrongPassword {}
        }
        for disk in try await crashes(of: guess, from: disk) {
            let folder = try folder(disk)
            let file = try #require(try folder.file(of: "v"))
            let failures = try folder.record(file, "v").failures
            #expect(failures <= 1)
            var guesses = 0
            while folder.contains("v") {
                _ = try? await folder.open("v").unlock(.wrong)
                guesses += 1
            }
            #expect(guesses == 3 - Int(failures))
        }
    }
}
