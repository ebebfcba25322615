import Foundation
import GRDB
import ODataClient
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import TestCorpus
import Testing

/// A served database and an offline store of it return the same results, regardless of storage classes and
/// collations.
///
/// `OUTPOST_FOREIGN_DIFFERENTIAL` is the number of queries for each database, 60 by default; `make
/// differential` uses 1,000. `OUTPOST_DIFFERENTIAL_SEED` is the seed, which is printed.
@Suite("A served database against a clone of it")
struct ForeignDifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["OUTPOST_FOREIGN_DIFFERENTIAL"].flatMap(Int.init) ?? 60
    private static let seed = environment["OUTPOST_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? 43

    @Test("Random queries get the same results from store and service", arguments: ForeignDatabases.made)
    func made(_ sample: ForeignDatabases.Sample) async throws {
        try await compare(sample) { path in
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: sample.sql ?? "") }
            try queue.close()
        }
    }

    @Test(
        "Random queries over the PROJ database get the same results from store and service",
        .enabled(if: ForeignDatabases.proj != nil, "scripts/setup.sh pypi installs the database"))
    func proj() async throws {
        let source = try #require(ForeignDatabases.proj)
        let sets = Self.count > 500 ? nil : ForeignDatabases.smallProjSets
        try await compare(ForeignDatabases.Sample(name: "proj.db", sets: sets)) { path in
            try FileManager.default.copyItem(atPath: source.path, toPath: path)
        }
    }

    private func compare(_ sample: ForeignDatabases.Sample, _ make: (String) throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("foreign.db").path
        try make(path)
        var options = ServedDatabase.Options()
        options.viewKeys = sample.viewKeys
        let served = try await ServedDatabase.open(path: path, options: options)
        let root = "http://foreign.test/"
        let transport = LoopbackTransport(ODataHandler(provider: served))
        let session = try HTTPSession(transport, serviceRoot: root, configuration: .init(retry: .none))
        let client = try ODataClient(serviceRoot: root, transport: session)
        var rows: [String: [ODataEntity]] = [:]
        var queries: [DefiningQuery] = []
        for set in served.model.container.entitySets where sample.sets?.contains(set.name) ?? true {
            queries.append(try DefiningQuery(set.name, set.name))
            let url = try ODataURL(parsing: "\(set.name)?$top=400")
            guard case .page(let page) = try await served.execute(ODataRequest(.read, url)).body else { continue }
            rows[set.name] = page.entities
        }
        #expect(queries.count >= 3)
        let clone = try await OfflineStore.create(
            at: folder.appendingPathComponent("clone").path, protection: .unencrypted, serviceRoot: root,
            remote: client,
            queries: queries)
        try await clone.download()
        var generator = ForeignQueries(served.model, rows, seed: Self.seed)
        var (same, refused, different) = (0, 0, 0)
        var reasons: Set<String> = []
        for _ in 0..<Self.count {
            guard let query = generator.query() else { continue }
            // Queries that lead to sets outside the store may be refused by it.
            let (left, right) = (await Self.answer(served, query), await Self.answer(clone, query))
            if left == right {
                if left.hasPrefix("error") { refused += 1 } else { same += 1 }
                if left.hasPrefix("error") { reasons.insert("\(left): \(query)") }
            } else if sample.sets != nil, right.hasPrefix("error") {
                refused += 1
            } else {
                different += 1
                let (served, cloned) = Self.firstDifference(left, right)
                Issue.record(
                    "\(sample.name), seed \(Self.seed): \(query)\n  served \(served.prefix(1500))\n  clone  \(cloned.prefix(1500))"
                )
                if different >= 10 { break }
            }
        }
        print(
            "Foreign differential: \(sample.name), seed \(Self.seed): \(same) same, \(refused) refused, \(different) differ"
        )
        // Queries that both sides refuse must not hide differences.
        #expect(same * 10 >= (same + refused) * 8, "\(reasons.sorted().prefix(10).joined(separator: "\n"))")
        try clone.close()
        try await served.close()
    }

    // MARK: Answers

    /// Returns the first row in which two results differ; a missing row is an empty text.
    private static func firstDifference(_ left: String, _ right: String) -> (String, String) {
        let (left, right) = (left.components(separatedBy: "\n"), right.components(separatedBy: "\n"))
        let place = zip(left, right).prefix { $0 == $1 }.count
        func row(_ lines: [String]) -> String {
            "\(place) of \(lines.count): \(place < lines.count ? lines[place] : "")"
        }
        return (row(left), row(right))
    }

    private static func answer(_ provider: some ODataProvider, _ query: String) async -> String {
        do {
            var url = try ODataURL(parsing: query)
            var lines: [String] = []
            while true {
                let response = try await provider.execute(ODataRequest(.read, url))
                switch response.body {
                case .page(let page):
                    // Every page contains the count, and the page sizes of both sides may differ.
                    if let count = page.count, lines.isEmpty { lines.append("count \(count)") }
                    lines += page.entities.map(text)
                    guard let next = page.nextLink else { return lines.joined(separator: "\n") }
                    url = try ODataURL(parsing: next.replacing("http://foreign.test/", with: ""))
                case .entity(let entity): return text(entity)
                case .none: return "none"
                default: return "\(response.body)"
                }
            }
        } catch {
            return "error \((error as? ODataError)?.status ?? 0)"
        }
    }

    private static func text(_ entity: ODataEntity) -> String {
        let values = entity.shape.properties.compactMap { property in
            entity[property.name].map { "\(property.name)=\(text($0))" }
        }
        let related = entity.shape.navigationProperties.flatMap { navigation -> [String] in
            guard entity.related[navigation.name] != nil else { return [] }
            let entities = entity.related(through: navigation.name).compactMap { ($0 as? ODataEntity).map(text) }
            return ["\(navigation.name)=[\(entities.sorted().joined(separator: ";"))]"]
        }
        return (values.sorted() + related.sorted()).joined(separator: ",")
    }

    private static func text(_ value: ODataValue) -> String {
        if case .decimal(let number) = value { "\(number.normalized)" } else { "\(value)" }
    }
}
