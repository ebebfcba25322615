import ODataQuery
import ODataService
import Testing

@Suite("The requests of a batch that are refused beforehand")
struct BatchScreeningTests {
    private func item(_ id: String, group: String? = nil, needs: [String] = []) throws -> BatchItem {
        BatchItem(
            id: id, request: ODataRequest(.read, try ODataURL(parsing: "Orders")), atomicityGroup: group,
            dependsOn: needs)
    }

    private func screening(
        _ items: [BatchItem], refused: Set<String>, continuesOnError: Bool = true
    ) -> BatchScreening {
        BatchScreening(items, continuesOnError: continuesOnError) {
            refused.contains($0.id) ? ODataError(status: 405, code: "No", message: "No.") : nil
        }
    }

    /// Returns the ids and states of results, with 200 for success.
    private func states(_ results: [BatchResult]) -> [String] {
        results.map { result in
            if case .failure(let error) = result.result { "\(result.id) \(error.status)" } else { "\(result.id) 200" }
        }
    }

    private func done(_ items: [BatchItem]) -> [BatchResult] {
        items.map { BatchResult(id: $0.id, result: .success(ODataResponse())) }
    }

    @Test("A refused change set is refused as a whole, with all dependent requests")
    func wholeChangeSets() throws {
        let items = [
            try item("a"), try item("b", group: "g"), try item("c", group: "g"), try item("d", needs: ["g"]),
            try item("e", needs: ["c"]), try item("f", needs: ["e"]), try item("h", needs: ["a"]),
        ]
        let screening = screening(items, refused: ["c"])
        #expect(screening.items.map(\.id) == ["a", "h"])
        #expect(
            states(screening.results(with: done(screening.items)))
                == ["a 200", "b 424", "c 405", "d 424", "e 424", "f 424", "h 200"])
    }

    @Test("Without continue-on-error, the first refusal ends the batch")
    func firstRefusalEnds() throws {
        let items = [try item("a"), try item("b"), try item("c"), try item("d")]
        let screening = screening(items, refused: ["b", "c"], continuesOnError: false)
        #expect(screening.items.map(\.id) == ["a"])
        #expect(states(screening.results(with: done(screening.items))) == ["a 200", "b 405"])
        let failed = [BatchResult(id: "a", result: .failure(.notFound("Orders")))]
        #expect(states(screening.results(with: failed)) == ["a 404"])
        #expect(states(screening.results(with: [])) == [])
    }

    @Test("A batch without refusals is not changed")
    func whole() throws {
        let items = [try item("a", group: "g"), try item("b", group: "g"), try item("c", needs: ["g"])]
        let screening = screening(items, refused: [])
        #expect(screening.isWhole && screening.items.map(\.id) == ["a", "b", "c"])
        #expect(BatchProgress.units(of: items).map { $0.map(\.id) } == [["a", "b"], ["c"]])
    }

    @Test("A request with a condition is executed by the condition, not by its dependencies")
    func conditions() throws {
        var conditional = try item("b", needs: ["a"])
        conditional.condition = try BatchCondition("$a/value eq 1")
        let screening = screening([try item("a"), conditional], refused: ["a"])
        #expect(screening.items.map(\.id) == ["b"])
    }
}
