import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import Testing

/// A service of OData 2.0 over a socket, accessed with types that were generated from its V2 metadata.
@Suite("Generated types over a service of OData 2.0")
struct TypedV2Tests {
    private static func store() async throws -> StoreService {
        var definition = ServiceDefinition(model: try OrchardMetadata.model.withoutOperations())
        definition.givesETagsToAll = true
        let tree = TypeReference.entity(Tree.typeName)
        let place = TypeReference.complex(Place.typeName)
        try definition.function(
            "TreesHigherThan", parameters: [.init("height", .primitive(.decimal))], returns: .collection(tree),
            in: "Trees"
        ) { call in
            let height: ODataDecimal = try call.argument("height")
            return .query("Trees?$filter=Height gt \(height)")
        }
        try definition.function("Heaviest", returns: tree, in: "Trees") { call in
            try call.transaction.entities("Trees?$orderby=Mass desc&$top=1").first.map { .entity($0) } ?? .none
        }
        try definition.function(
            "TotalMass",
            parameters: [.init("plantedBefore", .primitive(.dateTime)), .init("named", .primitive(.string))],
            returns: .primitive(.double)
        ) { call in
            let date: ODataDateTime = try call.argument("plantedBefore")
            let name: String = try call.argument("named")
            let trees = try call.transaction.entities("Trees").map { Tree(odataEntity: $0) }
            let wanted = trees.filter { ($0.planted.map { $0 < date } ?? false) && $0.name?.contains(name) == true }
            return .value(.double(wanted.reduce(0) { $0 + ($1.mass ?? 0) }))
        }
        try definition.function("PlaceOf", parameters: [.init("id", .primitive(.int32))], returns: place) { call in
            let id: Int32 = try call.argument("id")
            return .value(try call.transaction.entities("Trees(\(id))").first?["Place"] ?? .null)
        }
        try definition.function("Places", returns: .collection(place)) { call in
            .value(.collection(try call.transaction.entities("Trees?$orderby=ID").compactMap { $0["Place"] }))
        }
        try definition.function("Names", returns: .collection(.primitive(.string))) { call in
            .value(.collection(try call.transaction.entities("Trees?$orderby=ID").compactMap { $0["Name"] }))
        }
        try definition.action(
            "Water", parameters: [.init("id", .primitive(.int32)), .init("at", .primitive(.time))], returns: tree,
            in: "Trees"
        ) { call in
            let id: Int32 = try call.argument("id")
            let at: ODataDuration = try call.argument("at")
            guard let found = try call.transaction.entities("Trees(\(id))").first else { return .none }
            return .entity(try call.transaction.update(found, ["WateredAt": .duration(at)]))
        }
        try definition.action("Fell", parameters: [.init("id", .primitive(.int32))]) { call in
            let id: Int32 = try call.argument("id")
            try call.transaction.delete("Trees(\(id))")
            return .none
        }
        return try await StoreService.open(definition, at: .memory)
    }

    private func withOrchard(
        _ format: MessageDialect.EntityFormat, _ body: (OrchardService) async throws -> Void
    ) async throws {
        let handler = try ODataV2Handler(provider: try await Self.store(), serviceRoot: "/v2/")
        try await withServedClient(at: "/v2/", handler.handle, .init(entityFormat: format)) { client, _ in
            #expect(try await client.version < .v4)
            try await body(OrchardService(client))
        }
    }

    private func fill(_ orchard: OrchardService) async throws {
        try await orchard.groves.create(
            Grove {
                $0.code = "N'1"; $0.title = "North"
            })
        for id in 1...4 {
            try await orchard.trees.create(
                Tree {
                    $0.id = Int32(id)
                    $0.name = "Tree \(id)"
                    $0.planted = ODataDateTime(date: "19\(50 + id)-03-04")
                    $0.height = ODataDecimal("\(id).25")
                    $0.mass = Double(id) * 100.5
                    $0.leaves = 9_007_199_254_740_993 + Int64(id)
                    $0.isOld = id < 3
                    $0.mark = ODataGuid("11111111-2222-3333-4444-55555555555\(id)")
                    $0.ring = [1, 2, UInt8(id)]
                    $0.place = Place {
                        $0.row = Int16(id); $0.slot = 200
                    }
                    $0.groveCode = id > 1 ? "N'1" : nil
                })
        }
    }

    @Test(
        "Reads: keys, filters, expands, order, counts and exact values",
        arguments: [
            MessageDialect.EntityFormat.json, .atom,
        ])
    func reads(format: MessageDialect.EntityFormat) async throws {
        try await withOrchard(format) { orchard in
            try await fill(orchard)
            let tree = try #require(try await orchard.trees.key(3).get())
            #expect(tree.name == "Tree 3" && tree.height == 3.25 && tree.mass == 301.5 && tree.isOld == false)
            #expect(tree.leaves == 9_007_199_254_740_996 && tree.ring == [1, 2, 3])
            #expect(tree.planted == ODataDateTime(date: "1953-03-04"))
            #expect(tree.mark == ODataGuid("11111111-2222-3333-4444-555555555553"))
            #expect(tree.place?.row == 3 && tree.place?.slot == 200)
            let found = try await orchard.trees.filter(\.height > 1.5 && \.isOld == false).orderBy(
                \.id, descending: true
            )
            .expand(\.grove).all()
            #expect(found.map(\.id) == [4, 3])
            #expect(found.first?.grove?.title == "North")
            #expect(try await orchard.trees.filter(\.place.row == 2).first()?.id == 2)
            #expect(
                try await orchard.trees.filter { $0.name.startsWith("Tree") && $0.planted.year < 1953 }.count() == 2)
            #expect(try await orchard.trees.filter(\.grove.title == "North").count() == 3)
            #expect(
                try await orchard.groves.key("N'1").trees.orderBy(\.id).select(\.name).all().map(\.name)
                    == ["Tree 2", "Tree 3", "Tree 4"])
            #expect(try await orchard.trees.key(9).get() == nil)
            #expect(try await orchard.trees.key(3).name.get() == "Tree 3")
            #expect(try await orchard.trees.key(3).place.get()?.row == 3)
        }
    }

    @Test(
        "Creations, conditional changes, links and deletions",
        arguments: [
            MessageDialect.EntityFormat.json, .atom,
        ])
    func changes(format: MessageDialect.EntityFormat) async throws {
        try await withOrchard(format) { orchard in
            try await fill(orchard)
            let old = try #require(try await orchard.trees.key(1).get())
            #expect(old.odataETag != nil)
            var tree = old
            tree.height = 7.5
            tree.place?.slot = 12
            let changed = try await orchard.trees.update(tree)
            #expect(changed.height == 7.5 && changed.place?.slot == 12)
            let read = try await orchard.trees.key(1).get()
            #expect(read?.name == "Tree 1" && read?.place?.row == 1, "a MERGE keeps the rest")
            var late = old
            late.height = 8
            await #expect(throws: ConflictError.self) { try await orchard.trees.update(late) }
            try await orchard.trees.key(1).link(\.grove, to: orchard.groves.key("N'1"))
            #expect(try await orchard.trees.key(1).grove.get()?.title == "North")
            var grove = Grove {
                $0.code = "S"; $0.title = "South"
            }
            grove.trees = [
                Tree {
                    $0.id = 10; $0.isOld = false; $0.place = Place { $0.row = 1 }
                }
            ]
            try await orchard.groves.create(grove)
            #expect(try await orchard.groves.key("S").trees.all().map(\.id) == [10])
            try await orchard.trees.delete(try #require(try await orchard.trees.key(10).get()))
            #expect(try await orchard.trees.count() == 4)
        }
    }

    @Test(
        "Function imports: entities, an entity, values, complex values, nothing; by GET and POST",
        arguments: [
            MessageDialect.EntityFormat.json, .atom,
        ])
    func functionImports(format: MessageDialect.EntityFormat) async throws {
        try await withOrchard(format) { orchard in
            try await fill(orchard)
            #expect(try await orchard.treesHigherThan(height: 2.5).all().map(\.id) == [3, 4])
            #expect(try await orchard.heaviest().get()?.id == 4)
            let mass = try await orchard.totalMass(
                plantedBefore: try #require(ODataDateTime(date: "1953-01-01")), named: "Tree")
            #expect(mass == 301.5)
            #expect(try await orchard.placeOf(id: 2)?.row == 2)
            #expect(try await orchard.places().map(\.row) == [1, 2, 3, 4])
            #expect(try await orchard.names() == ["Tree 1", "Tree 2", "Tree 3", "Tree 4"])
            let time = try #require(ODataDuration("PT6H30M"))
            #expect(try await orchard.water(id: 2, at: time)?.wateredAt == time)
            try await orchard.fell(id: 2)
            #expect(try await orchard.trees.count() == 3)
        }
    }
}

extension ODataDateTime {
    /// Creates the midnight of a day.
    fileprivate init?(date: String) { self.init("\(date)T00:00:00") }
}
