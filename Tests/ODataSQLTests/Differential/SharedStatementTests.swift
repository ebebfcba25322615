import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import TestCorpus
import Testing

@testable import ODataSQL

/// Checks that the response to a query does not depend on earlier queries, for random models, rows and pairs of
/// queries.
///
/// `OUTPOST_PROOFS=all` runs 20,000 pairs. A failure is printed with its seed.
@Suite("Requests share statements only if their results stay the same")
struct SharedStatementTests {
    static let pairsPerSample = 20

    @Test("Random pairs of queries get the same results in both orders, from new and used services")
    func pairs() async throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["OUTPOST_PROOFS"] == "all" ? 20_000 : 200
        let first = environment["OUTPOST_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? 1
        let last = first + UInt64((wanted + Self.pairsPerSample - 1) / Self.pairsPerSample) - 1
        var answered = 0
        for seed in first...last {
            let sample = try Sample(seed: seed)
            let queue = try sample.database()
            var generator = RequestGenerator(sample: sample, seed: seed)
            let used = Self.service(sample, queue)
            for _ in 0..<Self.pairsPerSample {
                let request = generator.request()
                let pair = [request, generator.variant(of: request)].map(\.url)
                var answers: [[[UInt8]]] = [[], []]
                for order in [[0, 1], [1, 0]] {
                    let new = Self.service(sample, queue)
                    for index in order { answers[index].append(await Self.answer(pair[index], new)) }
                }
                for index in [0, 1, 0] { answers[index].append(await Self.answer(pair[index], used)) }
                for (url, answers) in zip(pair, answers) {
                    if answers[0].first == UInt8(ascii: "{") { answered += 1 }
                    guard Set(answers).count > 1 else { continue }
                    let texts = answers.map { String(decoding: $0.prefix(300), as: UTF8.self) }
                    Issue.record("seed \(seed): \(url) beside \(pair)\n  \(texts.joined(separator: "\n  "))")
                }
            }
        }
        print("Shared statements: seeds \(first) to \(last), \(answered) of \(2 * wanted) queries answered with rows")
        #expect(answered > wanted / 2)
    }

    private static func service(_ sample: Sample, _ queue: DatabaseQueue) -> StoreProvider {
        var options = StoreProvider.Options()
        options.now = { Differential.now }
        return StoreProvider(database: queue, mapping: sample.mapping, options: options)
    }

    /// Returns the bytes of a response or of an error.
    private static func answer(_ url: String, _ provider: StoreProvider) async -> [UInt8] {
        do {
            let format = ResponseFormat(metadata: .full, version: .v401, serviceRoot: "http://s/")
            let response = try await provider.execute(ODataRequest(.read, ODataURL(parsing: url), format: format))
            guard case .encoded(let stream, _) = response.body else { return Array("no bytes".utf8) }
            return try await stream.collect(limit: 1 << 26)
        } catch {
            return Array("refused: \(error)".utf8)
        }
    }
}

extension RequestGenerator {
    /// Numbers with a type that depends on their value or notation.
    private static let numbers = [
        "2", "3", "5", "40", "300", "5000000000", "2.0", "3.0", "2.00", "3.5", "0.25", "-2", "-2.0", "-1.5", "100.0",
        "100.5", "2e0",
        "0.1e0", "-0e0", "0e0", "12345678901234567890.0",
    ]
    /// Texts that are canonically equivalent in Unicode, but must be treated as different.
    private static let texts = ["'a'", "''", "'Ab'", "'\u{E4}\u{DF} c'", "'a\u{308}\u{DF} c'", "'K'", "'\u{212A}'"]

    /// Returns a request that differs from another one only in some literals.
    mutating func variant(of request: RandomRequest) -> RandomRequest {
        var request = request
        for index in request.options.indices where !["$top", "$skip"].contains(request.options[index].name) {
            request.options[index].value = variant(of: request.options[index].value)
        }
        return request
    }

    private mutating func variant(of piece: Piece) -> Piece {
        var piece = piece
        piece.parts = piece.parts.map { part in variant(of: part) }
        guard piece.parts.isEmpty, piece.kind.hasPrefix("Edm."), chance(70), let byte = piece.text.utf8.first else {
            return piece
        }
        let isNumber = ["Edm.Int32", "Edm.Int64", "Edm.Decimal", "Edm.Double", "Edm.Single"].contains(piece.kind)
        if isNumber, byte == UInt8(ascii: "-") || (48...57).contains(byte) {
            piece.texts = [pick(Self.numbers)]
        } else if piece.kind == "Edm.String", byte == UInt8(ascii: "'") {
            piece.texts = [pick(Self.texts)]
        }
        return piece
    }
}
