import Foundation
import Secrets
import Testing

@testable import MobileClient

/// Typed preferences (requirement row 32; `mobile-client.md` 5).
@Suite("Preferences") struct PreferenceTests {
    private static let size = AppPreference("page size", default: 50) { (1...1000).contains($0) }
    private static let colour = AppPreference("colour", default: "blue")

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("preferences-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test("Values are typed, validated, and there at the next start", arguments: [false, true])
    func values(isSealed: Bool) async throws {
        try await withFolder { folder in
            let key = isSealed ? EncryptionKey.generate() : nil
            let preferences = try AppPreferences(directory: folder, key: key)
            #expect(await preferences.get(Self.size) == 50)
            try await preferences.set(Self.size, 100)
            try await preferences.set(Self.colour, "red")
            await #expect(throws: MobileError.self) { try await preferences.set(Self.size, 0) }
            let later = try AppPreferences(directory: folder, key: key)
            #expect(await later.get(Self.size) == 100)
            #expect(await later.get(Self.colour) == "red")
            try await later.reset(Self.colour)
            #expect(await later.get(Self.colour) == "blue")
            let file = try #require(FileManager.default.contents(atPath: folder + "/preferences.json"))
            #expect(String(decoding: file, as: UTF8.self).contains("page size") == !isSealed)
        }
    }

    @Test("An invalid stored value yields the default and one event")
    func invalid() async throws {
        try await withFolder { folder in
            let wide = AppPreference("page size", default: 50)
            try await AppPreferences(directory: folder, key: nil).set(wide, 5000)
            let preferences = try AppPreferences(directory: folder, key: nil)
            var events = preferences.events.makeAsyncIterator()
            #expect(await preferences.get(Self.size) == 50)
            #expect(await preferences.get(Self.size) == 50)
            try await preferences.set(Self.colour, "red")
            #expect(await events.next() == .invalid(name: "page size"))
            #expect(await events.next() == .changed(name: "colour"))
            // A value of another type is invalid, too.
            let text = AppPreference("colour", default: 7)
            #expect(await preferences.get(text) == 7)
        }
    }

    @Test("A file that cannot be read yields all defaults and one event")
    func unreadable() async throws {
        try await withFolder { folder in
            try await AppPreferences(directory: folder, key: .generate()).set(Self.size, 100)
            let preferences = try AppPreferences(directory: folder, key: .generate())
            var events = preferences.events.makeAsyncIterator()
            #expect(await preferences.get(Self.size) == 50)
            #expect(await preferences.get(Self.colour) == "blue")
            #expect(await events.next() == .unreadable)
            try await preferences.set(Self.size, 70)
            #expect(await events.next() == .changed(name: "page size"))
            #expect(await preferences.get(Self.size) == 70)
        }
    }

    @Test("Observers see the changes of their preference alone")
    func observers() async throws {
        try await withFolder { folder in
            let preferences = try AppPreferences(directory: folder, key: nil)
            var sizes = await preferences.changes(of: Self.size).makeAsyncIterator()
            #expect(await sizes.next() == 50)
            try await preferences.set(Self.colour, "red")
            try await preferences.set(Self.size, 60)
            #expect(await sizes.next() == 60)
        }
    }
}
