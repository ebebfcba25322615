import Foundation
import Testing

@Suite("The floors and groups of the house")
struct HouseTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = root.appendingPathComponent("Sources")

    private static func house() throws -> House {
        House(manifest: try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8))
    }

    /// The folders in a folder.
    private static func folders(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles
        ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false }
            .map(\.lastPathComponent).sorted()
    }

    // MARK: This package

    @Test("Every folder of Sources is a target with a floor, in the folder of its group")
    func declared() throws {
        let folders = try Self.folders(in: Self.sources).flatMap { group in
            try Self.folders(in: Self.sources.appendingPathComponent(group)).map { "\(group)/\($0)" }
        }
        #expect(folders.count > 20, "targets were found at all")
        #expect(try Self.house().faults(folders: folders) == [])
    }

    @Test("No target imports upwards, sideways, or from a group above its own")
    func imports() throws {
        let house = try Self.house()
        var imports: [House.Import] = []
        for target in house.rooms.keys {
            let folder = Self.sources.appendingPathComponent(try #require(house.folder(of: target)))
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                imports += House.modules(in: try String(contentsOf: file, encoding: .utf8)).map {
                    House.Import(target: target, file: file.lastPathComponent, module: $0)
                }
            }
        }
        #expect(imports.count { house.rooms[$0.module] != nil } > 100, "imports were found at all")
        #expect(house.faults(imports: imports) == [])
    }

    @Test("Every target has a landing page in the documentation")
    func documented() throws {
        let house = try Self.house()
        for target in house.rooms.keys where target != "outpost" {
            let folder = Self.sources.appendingPathComponent(try #require(house.folder(of: target)))
            let page = folder.appendingPathComponent("Documentation.docc/\(target).md")
            #expect(FileManager.default.fileExists(atPath: page.path), "\(target) has no landing page")
        }
    }

    // MARK: What is found

    private static let manifest = """
        library("Model", floor: 1, group: "Language"),
        library(
            "Store", floor: 3, group: "Storage",
            ["Model", grdb]),
        library("Engine", floor: 4, group: "Sync", ["Store"]),
        program("tool", floor: 9, group: "Tools", ["Engine"]),
        system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        clang("CLinux"),
        """
    private static let folders = [
        "Language/Model", "Storage/Store", "Sync/Engine", "Tools/tool", "C/CSQLite", "C/CLinux",
    ]

    private func faults(_ target: String, imports module: String, _ manifest: String = manifest) -> [String] {
        House(manifest: manifest).faults(imports: [House.Import(target: target, file: "F.swift", module: module)])
    }

    @Test("A target is declared in a line or two, with floor and group")
    func reading() {
        let house = House(manifest: Self.manifest)
        #expect(house.rooms["Store"] == House.Room(name: "Store", floor: 3, group: "Storage"))
        #expect(house.rooms["tool"]?.floor == 9)
        #expect(house.foundations == ["CSQLite", "CLinux"])
        #expect(house.faults(folders: Self.folders) == [])
    }

    @Test("An import from a higher floor, and one from the same floor, is a fault")
    func wrongImport() {
        #expect(faults("Engine", imports: "Store") == [])
        #expect(faults("Store", imports: "Engine") == ["Store/F.swift on floor 3 imports Engine on floor 4"])
        let sideways = Self.manifest.replacing("floor: 4", with: "floor: 3")
        #expect(faults("Engine", imports: "Store", sideways) == ["Engine/F.swift on floor 3 imports Store on floor 3"])
        #expect(faults("Store", imports: "CSQLite") == [] && faults("Store", imports: "GRDB") == [])
    }

    @Test("Groups that import each other are a fault, although no target does")
    func groupCycle() {
        let manifest = Self.manifest + #"library("Keys", floor: 5, group: "Language", ["Engine"]),"#
        #expect(faults("Engine", imports: "Model", manifest) == [])
        #expect(
            faults("Keys", imports: "Engine", manifest)
                == ["Keys/F.swift in Language imports Engine in Sync, a group above"])
    }

    @Test("A folder that Package.swift gives no floor is a fault")
    func missingFloor() {
        let fault = "Sync/Engine has no floor: declare it with library(_:floor:group:_:) in Package.swift"
        for other in [#".target(name: "Engine"),"#, #"library("Engine", group: "Sync"),"#] {
            let manifest = Self.manifest.replacing(
                #"library("Engine", floor: 4, group: "Sync", ["Store"]),"#, with: other)
            #expect(House(manifest: manifest).faults(folders: Self.folders) == [fault])
        }
        #expect(House(manifest: Self.manifest).faults(folders: Self.folders + ["Sync/New"]).count == 1)
    }

    @Test("A folder in another group, an unknown group and a second declaration are faults")
    func wrongGroup() {
        let moved = Self.manifest.replacing(#"group: "Sync""#, with: #"group: "Attic""#)
        #expect(House(manifest: moved).faults(folders: Self.folders).count == 3)
        #expect(House(manifest: Self.manifest + Self.manifest).faults(folders: Self.folders).count == 4)
    }

    @Test("An import is found behind any attribute or modifier")
    func importLines() {
        let source = """
            import Foundation
            @testable import ODataModel
            public import ODataQuery
            import struct ODataService.Principal
                import Glibc
            // import Nothing
            let text = "no import"
            """
        #expect(House.modules(in: source) == ["Foundation", "ODataModel", "ODataQuery", "ODataService", "Glibc"])
    }
}
