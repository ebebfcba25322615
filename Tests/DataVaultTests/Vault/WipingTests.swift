import Foundation
import Secrets
import Synchronization
import Testing

@testable import DataVault

@Suite("Secrets leave no traces", .serialized)
struct WipingTests {
    #if os(Linux)
        /// Returns the number of occurrences of some bytes in the writable memory of this process, excluding
        /// the passed buffer.
        private func occurrences(of needle: UnsafeRawBufferPointer) throws -> Int {
            let maps = try Self.maps()
            let memory = open("/proc/self/mem", O_RDONLY)
            try #require(memory >= 0, "errno \(errno)")
            defer { close(memory) }
            let size = 1 << 20
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size + needle.count, alignment: 16)
            defer { buffer.deallocate() }
            var count = 0
            for line in maps.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
                let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                // A sanitizer maps terabytes for its bookkeeping. Reading such a map makes the kernel create
                // page tables that would fill the machine's memory.
                guard ends[1] - ends[0] < 1 << 36 else { continue }
                var position = ends[0]
                while position < ends[1] {
                    let read = pread(memory, buffer.baseAddress, size + needle.count - 1, off_t(position))
                    guard read >= needle.count, let start = buffer.baseAddress else { break }
                    let first = Int32(needle[0])
                    var from = 0
                    while from <= read - needle.count,
                        let hit = memchr(start + from, first, read - needle.count - from + 1)
                    {
                        let offset = UnsafeMutableRawPointer(hit) - start
                        from = offset + 1
                        guard let base = needle.baseAddress, memcmp(hit, base, needle.count) == 0 else { continue }
                        let address = position + UInt(offset)
                        let isOurs =
                            address == UInt(bitPattern: base)
                            || (UInt(bitPattern: start)..<UInt(bitPattern: start) + UInt(buffer.count)).contains(
                                address)
                        if !isOurs, offset < size { count += 1 }
                    }
                    position += UInt(size)
                }
            }
            return count
        }

        /// Returns the list of memory maps. The system returns it one page at a time, so a short read is not
        /// the end.
        private static func maps() throws -> String {
            let file = open("/proc/self/maps", O_RDONLY)
            try #require(file >= 0, "errno \(errno)")
            defer { close(file) }
            var text: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(file, &chunk, chunk.count)
                try #require(count >= 0, "errno \(errno)")
                if count == 0 { return String(decoding: text, as: UTF8.self) }
                text += chunk[..<count]
            }
        }

        /// Runs `body` on a separate thread, so that no other code uses its freed memory.
        private func onOwnThread(_ body: @escaping @Sendable () throws -> Void) throws {
            let done = DispatchSemaphore(value: 0)
            let failure = Mutex<(any Error)?>(nil)
            let thread = Thread {
                do { try body() } catch { failure.withLock { $0 = error } }
                done.signal()
            }
            thread.stackSize = 8 << 20
            thread.start()
            done.wait()
            if let error = failure.withLock({ $0 }) { throw error }
        }

        /// Reuses freed memory, like a program that continues to run.
        private func reuseFreedMemory() {
            var blocks: [UnsafeMutableRawBufferPointer] = []
            for size in stride(from: 16, through: 4096, by: 16) {
                for _ in 0..<32 {
                    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
                    block.initializeMemory(as: UInt8.self, repeating: 0)
                    blocks.append(block)
                }
            }
            for block in blocks { block.deallocate() }
        }

        /// Returns a buffer with the bytes to search, which are passed masked so that the test leaves no copy.
        private func needle(_ masked: [UInt8]) -> UnsafeMutableRawBufferPointer {
            let needle = UnsafeMutableRawBufferPointer.allocate(byteCount: masked.count, alignment: 16)
            for (index, byte) in masked.enumerated() { needle[index] = byte ^ 0x5A }
            return needle
        }

        @Test("A released key is nowhere in the memory of the process")
        func keyIsWiped() throws {
            try onOwnThread { () throws -> Void in
                var key: EncryptionKey? = .generate()
                let needle = self.needle(key?.withUnsafeBytes { $0.map { $0 ^ 0x5A } } ?? [])
                defer { needle.deallocate() }
                #expect(try self.occurrences(of: UnsafeRawBufferPointer(needle)) > 0)
                key = nil
                #expect(try self.occurrences(of: UnsafeRawBufferPointer(needle)) == 0)
            }
        }

        /// BoringSSL leaves the key schedule, which begins with the key, in freed memory. The tests check that
        /// no other copy remains, and that no live memory contains the key.
        @Test(
            "After a vault was sealed and opened, its key is not in reused memory",
            .disabled(
                if: ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == "address",
                "The address sanitizer keeps freed memory and the frames of calls that ended from being used again."))
        func vaultIsWiped() throws {
            try onOwnThread { () throws -> Void in
                let header = VaultFile.Header(
                    identity: randomBytes(16), epoch: 1, credentials: .old, derivation: try VaultFixture.cheap())
                let deviceKey = Secret(randomBytes(32))
                let bytes = try VaultFile(
                    header: header, content: VaultContent(passwordSetAt: 0), credentials: .old, deviceKey: deviceKey
                ).bytes
                var file = try VaultFile(bytes: bytes, path: "v")
                // Compare the key from the envelope with a key that was never in an envelope.
                var keys = [try #require(try file.dataKey(.old, deviceKey: deviceKey)), EncryptionKey.generate()]
                let needles = keys.map { key in self.needle(key.withUnsafeBytes { $0.map { $0 ^ 0x5A } }) }
                defer { for needle in needles { needle.deallocate() } }
                for key in keys {
                    try file.seal(VaultContent(passwordSetAt: 1), with: key)
                    _ = try file.content(with: key, path: "v")
                }
                for needle in needles { #expect(try self.occurrences(of: UnsafeRawBufferPointer(needle)) > 0) }
                keys = []
                self.reuseFreedMemory()
                for needle in needles { #expect(try self.occurrences(of: UnsafeRawBufferPointer(needle)) == 0) }
            }
        }

        @Test("A locked vault has no key in memory")
        func lockedVault() async throws {
            let fixture = try VaultFixture()
            let vault = try await fixture.folder.create("v", .old)
            #expect(await vault.opened != nil)
            await vault.lock()
            #expect(await vault.opened == nil)
        }
    #endif

    @Test("Descriptions and reflections of vaults, errors and credentials show no secret")
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
