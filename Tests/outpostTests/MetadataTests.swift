import Foundation
import Testing

@Suite("outpost metadata")
struct MetadataTests {
    private let site: Site
    private var tool: Tool { site.tool }

    init() throws { site = try Site() }

    /// Writes a document with a schema; gives its path.
    private func write(_ name: String, _ content: String) throws -> String {
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(content)</Schema></edmx:DataServices></edmx:Edmx>
            """
        let path = site.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static let model = """
        <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Kind" Type="S.Kind"/><Property Name="Since" Type="Edm.DateTimeOffset"/></EntityType>
        <Action Name="Close"><Parameter Name="rooms" Type="Collection(S.Room)"/></Action><EnumType Name="Kind"><Member Name="Hall"/></EnumType>
        <EntityContainer Name="C"><EntitySet Name="Rooms" EntityType="S.Room"/></EntityContainer>
        """

    @Test("validate accepts a readable document with warnings, and refuses it when strict")
    func validate() async throws {
        let sound = try await tool.run("metadata", "validate", try write("sound.xml", Self.model))
        #expect(sound.code == 0 && sound.output.contains("Valid: OData 4.0, 1 entity type, 0 warnings."))
        let doubtful = try write(
            "doubtful.xml",
            "<ComplexType Name=\"T\"><Property Name=\"a-b\" Type=\"Edm.String\"><Annotation Term=\"S.No\"/></Property></ComplexType>"
        )
        let warned = try await tool.run("metadata", "validate", doubtful)
        #expect(warned.code == 0 && warned.output.contains("2 warnings"))
        #expect(warned.output.contains("S.No") && warned.output.contains("a-b"))
        #expect(try await tool.run("metadata", "validate", doubtful, "--strict").code == 1)
        let broken = try await tool.run("metadata", "validate", try write("broken.xml", "<EntityType"))
        #expect(broken.code == 1 && broken.errors.contains("line 2"))
    }

    @Test("validate warns of dangling references and omitted parts")
    func dangling() async throws {
        let document = try write(
            "dangling.xml",
            Self.model.replacing(
                "EntityType=\"S.Room\"/>",
                with: """
                    EntityType="S.Room"><NavigationPropertyBinding Path="Gone" Target="Nowhere"/></EntitySet>
                    <ActionImport Name="Open" Action="S.Open"/>
                    """
            ).replacing("<Property Name=\"Since\" Type=\"Edm.DateTimeOffset\"/>", with: "<Property Name=\"Since\"/>"))
        let first = try await tool.run("metadata", "validate", document)
        #expect(first.code == 0 && first.output.contains("4 warnings"), "\(first.output)")
        for name in ["Gone", "Nowhere", "S.Open", "Property Since was left out"] {
            #expect(first.output.contains(name))
        }
        #expect(try await tool.run("metadata", "validate", document).output == first.output)
    }

    @Test("convert keeps everything that the format can express, and names the rest")
    func convert() async throws {
        let (xml, json) = (try write("model.xml", Self.model), site.path("model.json"))
        let converted = try await tool.run("metadata", "convert", xml, "--to", "json", "--output", json)
        #expect(converted.code == 0 && converted.errors.isEmpty)
        let same = try await tool.run("metadata", "diff", xml, json)
        #expect(same.code == 0 && same.output.contains("No differences."))
        let old = try await tool.run("metadata", "convert", json, "--to", "2.0")
        #expect(old.code == 0 && old.output.contains("http://schemas.microsoft.com/ado/2008/09/edm"))
        #expect(old.errors.contains("The enumeration type S.Kind"))
    }

    @Test("convert writes through links and into pipes without replacing them")
    func output() async throws {
        let model = try write("model.xml", Self.model)
        let (link, file, pipe) = (site.path("link"), site.path("file"), site.path("pipe"))
        try Data("older".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
        let linked = try await tool.run("metadata", "convert", model, "--to", "json", "--output", link)
        #expect(linked.code == 0, "\(linked.errors)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
        let document = try String(contentsOfFile: file, encoding: .utf8)
        #expect(document.contains("\"Rooms\""))
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let piped = try await tool.run("metadata", "convert", model, "--to", "json", "--output", pipe)
        #expect(piped.code == 0, "\(piped.errors)")
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(reader, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == document)
        var status = stat()
        #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("metadata vocabulary prints the vocabulary of object packages, which validate accepts")
    func vocabulary() async throws {
        let path = site.path("objects-v1.xml")
        let printed = try await tool.run("metadata", "vocabulary")
        #expect(printed.code == 0 && printed.output.contains("Namespace=\"Outpost.Objects.V1\""))
        #expect(try await tool.run("metadata", "vocabulary", "--output", path).code == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == printed.output)
        let valid = try await tool.run("metadata", "validate", path, "--strict")
        #expect(valid.code == 0 && valid.output.contains("0 warnings"), "\(valid.output)")
        let json = try await tool.run("metadata", "vocabulary", "--json")
        #expect(json.code == 0 && json.output.contains("\"$Kind\""))
    }

    @Test("validate and convert take annotations from a file of their own")
    func annotations() async throws {
        let metadata = try write("plain.xml", Self.model)
        let annotations = site.path("objects.xml")
        func annotate(_ target: String) throws {
            let text = """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="Mine" xmlns="http://docs.oasis-open.org/odata/ns/edm"><Annotations Target="\(target)">
                <Annotation Term="Outpost.Objects.V1.SynchronizationGroup" String="house"/></Annotations></Schema>
                </edmx:DataServices></edmx:Edmx>
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: annotations))
        }
        try annotate("S.C/Rooms")
        let valid = try await tool.run("metadata", "validate", metadata, "--annotations", annotations)
        #expect(valid.code == 0 && valid.output.contains("0 warnings"), "\(valid.output)")
        let merged = try await tool.run("metadata", "convert", metadata, "--annotations", annotations, "--to", "4.0")
        #expect(merged.code == 0 && merged.output.contains("String=\"house\""))
        try annotate("S.C/Rms")
        let warned = try await tool.run("metadata", "validate", metadata, "--annotations", annotations)
        #expect(warned.code == 0 && warned.output.contains("S.C/Rms") && warned.output.contains("objects.xml, line 2"))
        let refused = try await tool.run(
            "generate", metadata, "--objects", "--annotations", annotations, "--output", site.path("code"))
        #expect(refused.code != 0 && refused.errors.contains("S.C/Rms") && refused.errors.contains("line 2"))
        #expect(!FileManager.default.fileExists(atPath: site.path("code")))
        try annotate("S.C/Rooms")
        let generated = try await tool.run(
            "generate", metadata, "--objects", "--annotations", annotations, "--output", site.path("code"))
        #expect(generated.code == 0, "\(generated.errors)")
        let code = try String(contentsOfFile: site.path("code/CPackage.swift"), encoding: .utf8)
        #expect(code.contains("house"))
    }

    @Test("metadata diff reports breaking changes, also by its exit code")
    func diff() async throws {
        let base = try write("base.xml", Self.model)
        let grown = try write(
            "grown.xml",
            Self.model.replacing(
                "<Property Name=\"Kind\"", with: "<Property Name=\"Seats\" Type=\"Edm.Int32\"/><Property Name=\"Kind\"")
        )
        let fine = try await tool.run("metadata", "diff", base, grown)
        #expect(fine.code == 0 && fine.output.contains("S.Room/Seats added"))
        let broken = try await tool.run("metadata", "diff", grown, base, "--json")
        #expect(broken.code == 1 && broken.output.contains("\"isCompatible\" : false"))
    }
}
