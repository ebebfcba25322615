import Foundation
import Testing

/// The floors of the house. A target may import only targets on lower floors.
private let floors: [[String]] = [
    ["ErrorCodes", "CLibXML2", "CLinux", "CZlib"],
    ["ODataModel", "SafeFiles"],
    ["ODataQuery", "Secrets", "Supportability"],
    ["ODataFormat", "EncryptedSQLite", "DataVault", "CSQLite", "CAESGCM"],
    ["ODataService", "SecureStorage"],
    ["ODataSQL", "ODataHTTP", "ODataCache"],
    [
        "ODataClient", "ODataServer", "ODataStore", "ODataGenerator", "ODataTransportNIO", "ODataTransportURLSession",
        "OfflineOData",
    ],
    ["ODataDatabases", "MobileServer", "MobileClient", "ObjectAPI", "ODataTransportConformance"],
    ["outpost", "reference-service", "odata-generate"],
]

/// System libraries and calls stand below the target that uses them, on its own floor or lower.
private let systemLibraries: Set = ["CAESGCM", "CLibXML2", "CLinux", "CSQLite", "CZlib"]

@Suite("The floors of the house")
struct FloorTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func floor(of target: String) -> Int? { floors.firstIndex { $0.contains(target) } }

    private static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The targets of this package that a target's files import.
    private static func imports(of target: String) throws -> [(file: String, module: String)] {
        let folder = root.appendingPathComponent("Sources/\(target)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let known = Set(try targets())
        var found: [(String, String)] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let position = words.firstIndex(of: "import"), position < 3, words.count > position + 1,
                    words[..<position].allSatisfy({
                        $0.hasPrefix("@") || $0 == "public" || $0 == "internal" || $0 == "package"
                    })
                else { continue }
                let module = String(words[words.count - 1].prefix { $0 != "." })
                if known.contains(module) { found.append((file.lastPathComponent, module)) }
            }
        }
        return found
    }

    @Test("Every target has its floor")
    func known() throws {
        let targets = try Self.targets()
        #expect(targets.count > 5)
        for target in targets { #expect(Self.floor(of: target) != nil, "\(target) stands on no floor") }
    }

    @Test("No target imports upwards or sideways")
    func downwards() throws {
        var seen = 0
        for target in try Self.targets() {
            let own = try #require(Self.floor(of: target))
            for (file, module) in try Self.imports(of: target) {
                seen += 1
                let other = try #require(Self.floor(of: module))
                let isBelow = systemLibraries.contains(module) ? other <= own : other < own
                #expect(isBelow, "\(target)/\(file) on floor \(own) imports \(module) on floor \(other)")
            }
        }
        #expect(seen > 20, "imports were found at all")
    }

    @Test("Every target has a landing page in the documentation")
    func documented() throws {
        for target in try Self.targets() where !systemLibraries.contains(target) && target != "outpost" {
            let page = Self.root.appendingPathComponent("Sources/\(target)/Documentation.docc/\(target).md")
            #expect(FileManager.default.fileExists(atPath: page.path), "\(target) has no landing page")
        }
    }
}
