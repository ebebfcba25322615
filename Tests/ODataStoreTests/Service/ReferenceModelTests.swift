import Foundation
import ODataModel
import ODataQuery
import ODataService
import TestCorpus
import Testing

@testable import ODataStore

/// A model and rows outside the repository, loaded into a service.
private enum ReferenceModel {
    static let folder = Corpus.root.appendingPathComponent("../reference-model").standardizedFileURL

    static let isPresent = FileManager.default.fileExists(atPath: folder.appendingPathComponent("metadata.xml").path)

    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }
}

@Suite(
    "The reference model as a service",
    .enabled(if: ReferenceModel.isPresent, "no reference model at ../shared/reference-model"))
struct ReferenceModelTests {
    private static let references = [
        SeedReference("CategoryName", to: "Category", by: "Name"),
        SeedReference("ProductName", to: "Product", by: "Name"),
    ]

    private func service() async throws -> StoreService {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: ReferenceModel.bytes("metadata.xml")))
        definition.values = [
            .created("CreatedAt"), .modified("ModifiedAt"), .modified("UpdatedAt"), .contentType("ContentType"),
            .contentLength("Size"),
            .slug("Name", of: QualifiedName("ComplianceService", "MediaItem"), or: "Unnamed"),
            .initial("Rating", .integer(0)),
        ]
        definition.unique("Categories", "Name")
        let model = definition.model
        let rows = try SeedRows(ReferenceModel.bytes("data.json"), references: Self.references, model: model)
        try definition.action("Reseed") { call in
            try call.transaction.seed(rows, replacesAll: true)
            return .none
        }
        let service = try await StoreService.open(definition, at: .memory)
        try await service.seed(rows)
        return service
    }

    private func page(_ service: StoreService, _ url: String) async throws -> EntityPage {
        guard case .page(let page) = try await service.execute(ODataRequest(.read, ODataURL(parsing: url))).body else {
            return EntityPage()
        }
        return page
    }

    @Test("Example data include named relations, streams and the singleton")
    func seed() async throws {
        let service = try await service()
        #expect(try await page(service, "Products").entities.count == 7)
        let laptop = try #require(
            try await page(service, "Products?$filter=Name eq 'Laptop'&$expand=Category,Descriptions").entities.first)
        guard case .one(let category)? = laptop.related["Category"],
            case .many(let texts, _, _)? = laptop.related["Descriptions"]
        else { throw ODataError.notFound("Category") }
        #expect(category["Name"] == "Electronics")
        #expect(!texts.isEmpty)
        #expect(laptop.shape.name == QualifiedName("ComplianceService", "SpecialProduct"))
        #expect(laptop["CreatedAt"]?.lexicalText?.hasPrefix("2024-01-15T10:30:00") == true)
        let media = try #require(try await page(service, "MediaItems?$filter=Name eq 'Sample Image'").entities.first)
        #expect(media.control.mediaContentType == "image/png")
        let id = try #require(media.control.id)
        let response = try await service.execute(ODataRequest(.read, ODataURL(parsing: "\(id)/$value")))
        guard case .raw(let stream, _) = response.body else { throw ODataError.notFound("stream") }
        #expect(String(decoding: try await stream.collect(limit: 100), as: UTF8.self) == "not really a picture")
        let company = try await service.execute(ODataRequest(.read, ODataURL(parsing: "Company")))
        #expect(company.etag == "W/\"1\"")
    }

    @Test("Seeding again restores all rows with new keys, and a delta link reports it")
    func reseed() async throws {
        let service = try await service()
        let before = try await page(service, "Products").entities
        var tracking = ODataRequest(.read, try ODataURL(parsing: "Products"))
        tracking.preferences.trackChanges = true
        guard case .page(let tracked) = try await service.execute(tracking).body else {
            throw ODataError.notFound("page")
        }
        let id = try #require(before.first?.control.id)
        _ = try await service.execute(ODataRequest(.delete, ODataURL(parsing: id)))
        let response = try await service.execute(
            ODataRequest(.create, ODataURL(parsing: "Reseed"), body: .parameters([:])))
        #expect(response.status == 204)
        let after = try await page(service, "Products").entities
        #expect(after.count == before.count)
        #expect(Set(after.compactMap(\.control.id)).isDisjoint(with: before.compactMap(\.control.id)))
        let link = try #require(tracked.deltaLink)
        guard case .page(let delta) = try await service.execute(ODataRequest(following: link)).body else {
            throw ODataError.notFound("delta")
        }
        #expect(delta.entities.count == 7)
        #expect(delta.removed.count == 7)
    }

    @Test("9.3 required properties must be given, unless the service has initial values")
    func required() async throws {
        let service = try await service()
        let shape = try #require(service.model.shape(ofSet: "Products"))
        let entity = ODataEntity(shape: shape, ["Name": "x", "Price": .double(1)])
        do {
            _ = try await service.execute(
                ODataRequest(.create, ODataURL(parsing: "Products"), body: .entity(entity)))
            Issue.record("a product without a temperature was taken")
        } catch let error as ODataError {
            #expect(error.target == "Temperature")
        }
    }
}
