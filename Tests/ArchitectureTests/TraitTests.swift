import Foundation
import Testing

/// The resolution of an app is tested by scripts/app.sh, which asks SwiftPM. These tests read Package.swift and
/// the sources.
@Suite("The trait of server and tools")
struct TraitTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The modules of packages that come with the trait.
    private static func modules(in manifest: String) -> Set<String> {
        Set(manifest.matches(of: /= server\("(\w+)", "[\w-]+"\)/).map { String($0.1) })
    }

    @Test("Nothing that an app links imports a package of server and tools")
    func imports() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let modules = Self.modules(in: manifest)
        #expect(modules.count > 10 && modules.contains("Hummingbird") && modules.contains("NIOCore"))
        let house = House(manifest: manifest)
        var users: Set<String> = []
        for target in house.rooms.keys {
            let folder = Self.root.appendingPathComponent("Sources/\(try #require(house.folder(of: target)))")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let imports = House.modules(in: try String(contentsOf: file, encoding: .utf8))
                if !modules.isDisjoint(with: imports) { users.insert(target) }
            }
        }
        #expect(
            users == [
                "MobileServer", "ODataServer", "ODataTransportNIO", "ODataTransportConformance", "outpost",
                "outpost-server", "reference-service", "ToolLanguage",
            ])
    }

    @Test("libpq is linked with the trait alone, by the server alone")
    func database() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(manifest.contains(#".target(name: "CPostgres", condition: .when(traits: ["Server"]))"#))
        let house = House(manifest: manifest)
        var users: [String: Set<String>] = [:]
        for target in house.rooms.keys {
            let folder = Self.root.appendingPathComponent("Sources/\(try #require(house.folder(of: target)))")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                for module in House.modules(in: try String(contentsOf: file, encoding: .utf8)) {
                    users[module, default: []].insert(target)
                }
            }
        }
        #expect(users["CPostgres"] == ["PostgresClient"])
        #expect(users["PostgresClient"] == ["ServerStatePostgres"])
    }

    @Test("The trait is off unless a package asks for it")
    func isNoDefault() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(manifest.contains(#".trait(name: "Server""#) && !manifest.contains(".default("))
        #expect(manifest.contains(#"condition: .when(traits: ["Server"])"#))
    }
}
