import Foundation
import ODataGenerator
import ODataModel
import TestCorpus
import Testing

@Suite("Subsets")
struct SubsetTests {
    @Test("A set includes its type, base types, derived types and property types")
    func closure() throws {
        let code = try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["Ships"]))
        let paths = code.files.map(\.path)
        #expect(
            paths == [
                "ComplexTypes/MarkedPosition.swift", "ComplexTypes/Position.swift", "Entities/Ship.swift",
                "Enumerations/HarbourUnit.swift", "Enumerations/Services.swift", "Enumerations/ShipKind.swift",
                "HarbourMetadata.swift",
                "HarbourService.swift",
            ])
        #expect(code.omissions.contains { $0.element == "Harbour.Ship/Owner" })
        let parties = try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["Parties"]))
        let entities = parties.files.map(\.path).filter { $0.hasPrefix("Entities") }
        #expect(entities == ["Entities/Company.swift", "Entities/Party.swift", "Entities/Person.swift"])
    }

    @Test("Navigation properties include types as configured")
    func navigation() throws {
        func entities(_ navigation: GeneratorConfiguration.Navigation) throws -> [String] {
            try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["Ships"], navigation: navigation)).files
                .map(\.path).filter { $0.hasPrefix("Entities") }
        }
        #expect(try entities(.selected) == ["Entities/Ship.swift"])
        #expect(try entities(.contained) == ["Entities/Call.swift", "Entities/Ship.swift"])
        #expect(try entities(.all).count == 5)
    }

    @Test("Types, singletons and imports can be requested by name, and an unknown name gets a suggestion")
    func names() throws {
        let code = try Documents.code(
            "harbour.xml", GeneratorConfiguration(sets: ["Master", "Reset"], types: ["Harbour.Photo"]))
        #expect(code.text.contains("var master"))
        #expect(code.text.contains("func reset()"))
        #expect(code.text.contains("struct Photo"))
        #expect(!code.text.contains("func freeBerths"))
        #expect(throws: GeneratorError.unknownSet("ships", similar: ["Ships"])) {
            try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["ships"]))
        }
        #expect(throws: GeneratorError.unknownType("Tug")) {
            try Documents.code("harbour.xml", GeneratorConfiguration(sets: [], types: ["Tug"]))
        }
    }

    @Test("The metadata in the code are those of the subset, without descriptions")
    func metadata() throws {
        let code = try Documents.code("harbour.xml", GeneratorConfiguration(sets: ["Ships"]))
        let text = try #require(code.text(of: "HarbourMetadata.swift"))
        #expect(!text.contains("Photo") && !text.contains("Description"))
        #expect(text.contains("Org.OData.Core.V1.Computed"))
    }

    @Test("The number of files is limited to 1 to 100", arguments: [0, 101, -1])
    func files(count: Int) throws {
        #expect(throws: GeneratorError.files(count)) {
            try Documents.code("harbour.xml", GeneratorConfiguration(files: count))
        }
        #expect(try Documents.code("harbour.xml", GeneratorConfiguration(files: 100)).files.count == 102)
    }

    @Test("A configuration file is read, and an unknown key is refused")
    func configuration() throws {
        let text = #"{"name": "Port", "access": "internal", "sets": ["Ships"], "names": {"Harbour.Ship": "Vessel"}}"#
        let configuration = try JSONDecoder().decode(GeneratorConfiguration.self, from: Data(text.utf8))
        #expect(configuration.sets == ["Ships"] && configuration.access == .internal)
        #expect(try Documents.code("harbour.xml", configuration).serviceName == "PortService")
        do {
            _ = try JSONDecoder().decode(GeneratorConfiguration.self, from: Data(#"{"set": []}"#.utf8))
            Issue.record("a misspelt key was read")
        } catch let error as DecodingError {
            #expect(GeneratorConfiguration.explain(error).hasPrefix("set: The key is unknown"))
        }
    }

    @Test("Metadata without declarations are refused")
    func nothing() {
        #expect(throws: GeneratorError.nothingToGenerate) { try Documents.code(schema: "") }
    }
}

@Suite("Corpus: subsets", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusSubsetTests {
    @Test("A typical part of Microsoft Graph has less than 5,000 lines")
    func graph() throws {
        let model = try CSDLReader.read(Corpus.bytes("metadata/microsoft_OpenAPI.NET.OData/graph1.0.xml"))
        let code = try Generator(model, GeneratorConfiguration(sets: ["users", "groups", "me"])).generate()
        #expect(code.lineCount < 5000, "\(code.lineCount)")
        let all = try Generator(model).generate()
        #expect(all.structuredTypes > 400)
    }

    @Test("Code is generated from every document that can be read and declares something")
    func everything() throws {
        var generated = 0
        for path in Corpus.files("metadata", where: { _ in true }) + Corpus.files("csdl-pairs", where: { _ in true }) {
            guard let model = try? CSDLReader.read(Corpus.bytes(path)) else { continue }
            do {
                #expect(try Generator(model).generate().lineCount > 0)
                generated += 1
            } catch GeneratorError.nothingToGenerate {
                continue
            } catch {
                Issue.record("\(path): \(error)")
            }
        }
        #expect(generated > 20)
    }
}
