import Foundation
import Secrets
import Testing

@testable import DataVault

@Suite("Secrets leave no traces", .serialized)
struct WipingTests {
    #if os(Linux)
        /// How often bytes occur in the writable memory of this process, besides where they are given.
        private func occurrences(of needle: UnsafeRawBufferPointer) throws -> Int {
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            let memory = open("/proc/self/mem", O_RDONLY)
            defer { close(memory) }
            let size = 1 << 20
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size + needle.count, alignment: 16)
            defer { buffer.deallocate() }
            var count = 0
            for line in maps.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
                let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                var position = ends[0]
                while position < ends[1] {
                    let read = pread(memory, buffer.baseAddress, size + needle.count - 1, off_t(position))
                    guard read >= needle.count, let start = buffer.baseAddress else { break }
                    let first = Int32(needle[0])
                    var from = 0
                    while from <= read - needle.count, let hit = memchr(start + from, first, read - needle.count - from + 1) {
                        let offset = UnsafeMutableRawPointer(hit) - start
                        from = offset + 1
                        guard let base = needle.baseAddress, memcmp(hit, base, needle.count) == 0 else { continue }
                        let address = position + UInt(offset)
                        let isOurs =
                            address == UInt(bitPattern: base)
                            || (UInt(bitPattern: start)..<UInt(bitPattern: start) + UInt(buffer.count)).contains(address)
                        if !isOurs, offset < size { count += 1 }
                    }
                    position += UInt(size)
                }
            }
            return count
        }

        @Test("After locking, the vault's key is nowhere in the memory of the process")
        func keyIsWiped() async throws {
            let fixture = try VaultFixture()
            let vault = try await fixture.folder.create("v", .old)
            try await vault.setString("value", named: "a")
            await vault.lock()
            try await vault.unlock(.old)
            _ = try await vault.string(named: "a")
            let needle = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
            defer { needle.deallocate() }
            for (index, byte) in await vault.maskedKey().enumerated() { needle[index] = byte ^ 0x5A }
            #expect(try occurrences(of: UnsafeRawBufferPointer(needle)) > 0)
            await vault.lock()
            #expect(try occurrences(of: UnsafeRawBufferPointer(needle)) == 0)
        }
    #endif

    @Test("Neither a description nor a reflection of a vault, an error or credentials shows a secret")
    func descriptions() async throws {
        let fixture = try VaultFixture()
        let secret = "TOP-SECRET-7391"
        let credentials = VaultCredentials(password: secret, salt: secret)
        let vault = try await fixture.folder.create("v", credentials)
        try await vault.setString(secret, named: "a")
        var printed = "\(credentials) \(String(reflecting: credentials)) \(vault) \(String(reflecting: vault))"
        dump(credentials, to: &printed)
        dump(vault, to: &printed)
        var errors: [any Error] = []
        func fail(_ body: () async throws -> Void) async {
            do { try await body() } catch { errors.append(error) }
        }
        await fail { try await vault.unlock(VaultCredentials(password: secret + "!")) }
        await fail { try await vault.setString(secret + String(repeating: secret, count: 5000), named: "a") }
        await fail { _ = try await vault.key(named: "a") }
        var policy = PasswordPolicy()
        policy.minLength = 1000
        try await vault.setPasswordPolicy(policy)
        await fail { try await vault.unlock(credentials) }
        await fail { try await vault.changePassword(from: credentials, to: credentials) }
        await fail { _ = try await vault.string(named: "a") }
        #expect(errors.count == 6)
        for error in errors {
            printed += "\(error) \(error.localizedDescription) \(String(reflecting: error))"
            dump(error, to: &printed)
        }
        #expect(!printed.contains(secret))
        #expect(printed.contains("redacted"))
    }
}

extension Vault {
    /// The key in a form that is not the key, so that the test itself leaves no copy.
    fileprivate func maskedKey() -> [UInt8] {
        opened?.dataKey.withUnsafeBytes { $0.map { $0 ^ 0x5A } } ?? []
    }
}
