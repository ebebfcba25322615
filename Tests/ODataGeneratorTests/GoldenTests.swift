import Foundation
import ODataGenerator
import Testing

@Suite("Golden code")
struct GoldenTests {
    /// Whether the golden files are replaced by the generated code: `OUTPOST_RECORD_GOLDEN=1 swift test
    /// --filter GoldenTests`.
    private static let isRecording = ProcessInfo.processInfo.environment["OUTPOST_RECORD_GOLDEN"] != nil
    private static let configuration = GeneratorConfiguration(access: .internal, files: 1)

    @Test(
        "The compiled test code for queries and services equals the generated code, byte for byte",
        arguments: ["Harbour", "Orchard"])
    func golden(name: String) throws {
        let code = try Documents.code("\(name.lowercased()).xml", Self.configuration)
        let folder = Documents.folder.appendingPathComponent(name)
        if Self.isRecording { try code.write(to: folder) }
        #expect(code.files.map(\.path) == ["\(name)Metadata.swift", "\(name)Service.swift", "\(name)Types1.swift"])
        for file in code.files {
            let golden = try String(contentsOf: folder.appendingPathComponent(file.path), encoding: .utf8)
            #expect(file.text == golden, "\(file.path) differs; record it again where that is meant")
        }
    }

    @Test("A declaration that cannot be generated is named with the reason")
    func omissions() throws {
        let code = try Documents.code("harbour.xml")
        #expect(
            code.omissions.map(\.description) == ["Harbour.Name: it is bound to Edm.EntityType"])
    }

    @Test("The same metadata give the same code, in any order of declarations")
    func order() throws {
        let first = """
            <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
            <Property Name="id" Type="Edm.Int32"/></EntityType>
            """
        let second = #"<ComplexType Name="a"><Property Name="X" Type="Edm.String"/></ComplexType>"#
        let one = try Documents.code(schema: first + second)
        let other = try Documents.code(schema: second + first)
        func names(_ code: GeneratedCode) -> [String] {
            code.files.filter { !$0.path.hasSuffix("Metadata.swift") }.map { "\($0.path)\n\($0.text)" }
        }
        #expect(names(one) == names(other))
        #expect(one.text.contains("struct A:"))
        #expect(one.text.contains("struct ShopA:"))
    }

    @Test("Unchanged files are not written, and obsolete generated files are removed")
    func writing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("golden-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let all = try Documents.code("harbour.xml")
        #expect(try all.write(to: folder).changed.count == all.files.count)
        #expect(try all.write(to: folder).changed.isEmpty)
        try "// mine".write(to: folder.appendingPathComponent("Mine.swift"), atomically: true, encoding: .utf8)
        let part = try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["Photos"]))
        let removed = try part.write(to: folder).removed
        #expect(removed.contains("Entities/Ship.swift"))
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("Mine.swift").path))
    }

    @Test("internal and package code has no public declarations")
    func access() throws {
        #expect(try Documents.code("harbour.xml", .init(access: .internal)).text.contains("public ") == false)
        #expect(try Documents.code("harbour.xml", .init(access: .package)).text.contains("package struct Ship"))
        #expect(try Documents.code("harbour.xml").text.contains("public struct Ship"))
    }
}
