import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// Compares the results of SQL and of the evaluator for random models, rows and queries.
///
/// `OUTPOST_DIFFERENTIAL` is the number of queries; the default is 2,000, and `make differential` runs 100,000. A
/// failure is minimized and printed with its seed, and should then be added to ``Differential/known``.
@Suite("SQL against the evaluator")
struct DifferentialTests {
    static let perSample = 50

    @Test("Random queries get the same results in memory and in SQL")
    func random() async throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["OUTPOST_DIFFERENTIAL"].flatMap(Int.init) ?? 2_000
        let first = environment["OUTPOST_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? 1
        var tally = Tally()
        for number in 0..<UInt64((wanted + Self.perSample - 1) / Self.perSample) {
            let seed = first + number
            let sample = try Sample(seed: seed)
            var generator = RequestGenerator(sample: sample, seed: seed)
            let differential = try Differential(sample)
            for _ in 0..<Self.perSample {
                let request = generator.request()
                let outcome = await differential.compare(request)
                tally.add(outcome)
                if case .different = outcome {
                    let (smallest, rows) = try await Differential.shrunk(request, sample)
                    Issue.record("seed \(seed): \(request.url)\n  as small as \(smallest.url)\n  \(rows)")
                }
                if tally.different >= 20 { break }
            }
            if tally.different >= 20 { break }
        }
        print("Differential: \(tally)")
        // Too many refused queries could hide differences.
        #expect(tally.same * 10 >= (tally.same + tally.refused) * 9, "\(tally)")
    }

    struct Tally: CustomStringConvertible {
        var same = 0
        var different = 0
        var refused = 0
        var reasons: [String: Int] = [:]

        mutating func add(_ outcome: Differential.Outcome) {
            switch outcome {
            case .same: same += 1
            case .different: different += 1
            case .refused(let reason):
                refused += 1
                reasons[reason, default: 0] += 1
            }
        }

        var description: String {
            let list = reasons.sorted { $0.value > $1.value }.prefix(12).map { "\($0.value)× \($0.key)" }
            return "\(same) the same, \(different) different, \(refused) refused (\(list.joined(separator: "; ")))"
        }
    }

    @Test("Queries with former differences get the same results", arguments: Differential.known)
    func known(seed: UInt64, url: String) async throws {
        let differential = try Differential(try Sample(seed: seed))
        if case .different(let reason) = await differential.compare(Self.request(url)) { Issue.record("\(reason)") }
    }

    @Test("Each function has equivalent SQL, over ten samples", arguments: Differential.offered)
    func offered(url: String) async throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let outcome = await (try Differential(try Sample(seed: seed))).compare(Self.request(url))
            guard case .same = outcome else {
                Issue.record("seed \(seed): \(outcome)")
                return
            }
        }
    }

    private static func request(_ url: String) -> RandomRequest {
        let parts = url.split(separator: "?", maxSplits: 1)
        var request = RandomRequest(set: String(parts[0]), options: [], isOrdered: !url.contains("$apply"))
        for option in parts.dropFirst().joined().split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1)
            request.options.append((String(pair[0]), Piece("option", String(pair[1]))))
        }
        return request
    }
}

/// A sample that can be queried by the evaluator and by SQL.
struct Differential {
    let sample: Sample
    let queue: DatabaseQueue

    init(_ sample: Sample) throws {
        self.sample = sample
        queue = try sample.database()
    }

    enum Outcome {
        case same
        case different(String)
        /// Neither a result nor a difference: one side does not support the query, or both refuse an invalid one.
        case refused(String)
    }

    static let now = ODataDateTimeOffset(seconds: 1_700_000_000)

    func compare(_ request: RandomRequest) async -> Outcome {
        let bound: BoundURL
        do {
            bound = try Binder(model: sample.model).bind(ODataURL(parsing: request.url))
        } catch {
            return .refused("binder: \(error)")
        }
        let expected = Result {
            try Evaluator(model: sample.model, source: sample.data, now: Self.now).evaluate(bound)
        }
        let actual: Result<[UInt8], any Error>
        do {
            let format = ResponseFormat(metadata: .none, version: .v401)
            let reader = StoreReader(mapping: sample.mapping, configuration: .init(now: { Self.now }))
            let response = try await reader.read(
                bound, request: ODataRequest(.read, try ODataURL(parsing: request.url), format: format), in: queue)
            guard case .encoded(let stream, _) = response.body else { return .different("no bytes") }
            actual = .success(try await stream.collect(limit: 1 << 26))
        } catch {
            actual = .failure(error)
        }
        switch (expected, actual) {
        case (.failure, .failure): return .refused("both: an error of the request")
        case (.failure(let error), .success): return .refused("evaluator: \(error)")
        case (.success(let page), .failure(let error)):
            if let error = error as? ODataError, error.status == 501 { return .refused("SQL: \(error.target ?? "")") }
            // SQLite may evaluate a condition on rows that another condition excludes.
            if let error = error as? ODataError, error.message.contains("too many digits") {
                return .refused("SQL: overflow")
            }
            return .different("\(page.rows.count) rows, but SQL says \(error)")
        case (.success(let page), .success(let bytes)):
            do {
                guard case .object(let members) = try Answer(json: bytes), case .array(let found)? = members["value"]
                else { return .different(String(decoding: bytes, as: UTF8.self)) }
                let wanted = page.rows.map { Answer($0) }
                let isSame =
                    request.isOrdered
                    ? Answer.array(wanted).agrees(.array(found)) : Answer.agree(wanted, unordered: found)
                let count = page.count.map { Answer.exact(ODataDecimal(Int64($0))) }
                if isSame, count == nil || count?.agrees(members["@count"] ?? .null) == true { return .same }
                return .different("expected \(wanted)\n  found \(String(decoding: bytes, as: UTF8.self))")
            } catch {
                return .different("\(error)")
            }
        }
    }

    /// Returns the smallest request that still has different results on the fewest rows, and a description of the
    /// difference.
    static func shrunk(_ request: RandomRequest, _ sample: Sample) async throws -> (RandomRequest, String) {
        var best = request
        var data = sample.data
        var reason = ""
        func differs(_ request: RandomRequest, _ data: MemoryData) async throws -> Bool {
            var copy = sample
            copy.data = data
            guard case .different(let why) = await (try Differential(copy)).compare(request) else { return false }
            reason = why
            return true
        }
        var tries = 0
        var isSmaller = true
        while isSmaller, tries < 400 {
            isSmaller = false
            for next in best.smaller() where tries < 400 {
                tries += 1
                if try await differs(next, data) {
                    best = next
                    isSmaller = true
                    break
                }
            }
        }
        for set in ["Bs", "As"] {
            var index = (data.records[set]?.count ?? 0) - 1
            while index >= 0 {
                var records = data.records
                records[set]?.remove(at: index)
                let fewer = MemoryData(records: records, links: data.links)
                if try await differs(best, fewer) { data = fewer }
                index -= 1
            }
        }
        _ = try await differs(best, data)
        return (best, "\(data.records)\n  \(reason)")
    }

    /// Queries that must be supported by SQL, in addition to the random ones.
    static let offered = [
        "As?$apply=nest(identity as All)",
        "As?$apply=nest(groupby((Place/City))/orderby(Place/City) as Cities,filter(ID le 2) as Few)",
        "As?$apply=groupby((Place/City),nest(topcount(2,ID) as Top))",
        "As?$apply=addnested(Bs,compute(ID add 1 as Next1) as More)",
        "As?$apply=addnested(Links,aggregate($count as N) as Counted)/filter(ID ge 2)",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID)),aggregate($count as N))",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,A/ID)),aggregate(ID with sum as T))",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,AID)))",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID),Place/City),aggregate($count as N))",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID,descendants($root/As,H,ID,filter(ID eq 1),keep start))),"
            + "aggregate($count as N))",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID)),aggregate($count as N))&$expand=Bs,Place/Top($select=ID)",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID,ancestors($root/As,H,ID,filter(ID ge 3),keep start))),"
            + "aggregate(Bs/$count as N))/filter(Next/ID eq 1)",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,A/ID)),filter(ID ge 3))/"
            + "groupby((A/Place/City),aggregate($count as N))",
        "Bs?$apply=groupby((AID),groupby((rolluprecursive($root/As,H,A/ID)),aggregate($count as N)))",
        "As?$apply=groupby((rolluprecursive($root/As,H,NextID),rolluprecursive($root/As,H,ID)),aggregate($count as N))",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,A/ID),rolluprecursive($root/As,H,A/Next/ID)),"
            + "aggregate(ID with sum as T))",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,A/Next/ID),rollup(A/Kind,AID)),aggregate(ID with max as T))",
        "Bs?$apply=groupby((rolluprecursive($root/As,H,A/ID)),compute(case(A eq Aggregation.rollupnode():ID) as O)/"
            + "aggregate(ID with sum as T,O with sum as TO))",
        "As?$apply=nest(filter(isof(S.AX)) as Some,identity as All)",
        "As?$expand=Place/Top($expand=Place/Top;$select=ID)",
        "As?$select=ID&$expand=Place/Top($select=ID)",
        "Bs?$expand=A($expand=Links($filter=ID ge $it/AID;$orderby=ID desc))",
        "As?$expand=Bs($expand=A($expand=Bs($filter=AID eq $it/NextID or $it/Place/City eq 'a')))",
        "As?$filter=Place eq Next/Place or Spot ne Next/Spot or Next eq Place/Top",
        "As?$filter=Place in ({\"City\":\"a\"},{\"City\":null,\"Code\":1})",
        "As?$filter=cast(concat('Re','d'),S.Kind) eq Kind", "As?$filter=cast(Kind,Edm.String) gt 'G'",
        "As?$orderby=cast(Kind,Edm.String),ID&$compute=length(cast(Kind,Edm.String)) as L&$select=ID,L",
        "As?$filter=Tags/$count($filter=$this ne 'a') eq 1",
        "As?$apply=groupby((Place/City),ancestors($root/As,H,ID,filter(ID ge 3),1,keep start)/aggregate($count as N))",
        "As?$apply=groupby((Place/City),descendants($root/As,H,ID,filter(ID le 2))/aggregate($count as N))",
        "Bs?$apply=groupby((AID),traverse($root/As,H,A/ID,preorder)/aggregate($count as N))",
        "Bs?$apply=groupby((A),aggregate($count as N))", "As?$apply=groupby((Next))",
        "As?$apply=join(Bs as J,filter(ID ge 2))/groupby((J/ID))", "As?$apply=outerjoin(Links as J,topcount(1,ID))",
        "As?$expand=Bs($filter=AID eq $it/ID)", "As?$expand=Links($filter=$it/Next/ID eq 1;$top=1)",
        "Bs?$expand=A($expand=Bs($orderby=ID desc;$top=1);$select=ID)", "As?$expand=Next($levels=max)",
        "As?$filter=Kind has S.Kind'Green'&$orderby=Kind desc,ID", "As?$filter=Kind in (S.Kind'Red',S.Kind'Red,Blue')",
        "As?$filter=Aggregation.isnode(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=Place/Code)",
        "As?$filter=Aggregation.isroot(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID)",
        "Bs?$filter=not Aggregation.isleaf(HierarchyNodes=@n,HierarchyQualifier='H',Node=A/ID)&@n=$root/As",
        "As?$filter=Aggregation.issibling(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID,Other=2)",
        "As?$filter=Aggregation.issibling(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID,Other=NextID)",
        "As?$filter=Aggregation.isdescendant(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID,Ancestor=1)",
        "As?$filter=Aggregation.isdescendant(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID,"
            + "Ancestor=Place/Code,MaxDistance=1,IncludeSelf=true)",
        "Bs?$filter=Aggregation.isancestor(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=AID,Descendant=3)",
        "As?$filter=Bs/any(b:Aggregation.isancestor(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=NextID,"
            + "Descendant=b/AID,MaxDistance=2))",
        "As?$filter=Aggregation.isdescendant(HierarchyNodes=$root/As/$filter(ID le 4),HierarchyQualifier='H',"
            + "Node=ID,Ancestor=1)",
        "As?$filter=Aggregation.isdescendant(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=ID,Ancestor=null) "
            + "eq null", "As?$apply=descendants($root/As,H,Nums,filter(ID le 2),keep start)",
        "As?$apply=ancestors($root/As,H,Links/A/ID,filter(ID ge 2),1)",
        "As?$apply=groupby((Place/City),descendants($root/As,H,Bs/AID,filter(ID le 3))/aggregate($count as N))",
        "As?$apply=traverse($root/As,H,Links/A/ID,preorder)", "As?$apply=traverse($root/As,H,Bs/AID,postorder,ID desc)",
        "As?$apply=traverse($root/As,H,Nums,preorder,filter(ID le 2))/filter(ID ge 2)",
        "As?$apply=groupby((rolluprecursive($root/As,H,Links/A/ID)),aggregate($count as N))",
        "As?$apply=groupby((rolluprecursive($root/As,H,Bs/AID,filter(ID ge 2))),aggregate(ID with sum as S))",
        "As?$apply=groupby((rolluprecursive($root/As,H,Nums),Place/City),aggregate($count as N))",
        "As?$apply=groupby((Place/City),traverse($root/As,H,Nums,preorder)/aggregate($count as N))",
        "As?$apply=groupby((Place/City),join(Bs as J)/aggregate($count as N,J/ID with sum as S))",
        "As?$apply=groupby((Place/City),addnested(Links,aggregate($count as N) as M)/aggregate($count as C))",
        "As?$apply=concat(join(Bs as J),identity)", "As?$apply=concat(outerjoin(Links as J),aggregate($count as N))",
        "As?$apply=join(Bs as J)/concat(identity,groupby((J/ID)))",
        "As?$apply=concat(join(Bs as J),join(Links as J))/compute(J/ID add 1 as C)",
        "As?$apply=nest(join(Bs as J) as N)", "As?$apply=nest(concat(topcount(2,ID),aggregate(ID with sum as S)) as N)",
        "As?$apply=nest(concat(outerjoin(Links as J),groupby((Place/City))/orderby(Place/City)) as N)",
        "As?$apply=nest(outerjoin(Bs as J,groupby((ID),aggregate(AID with max as M)))/join(Links as J2) as N)",
        "As?$filter=geo.distance(Spot,geography'SRID=4326;Point(1 1)') lt 200000", "As?$filter=D ge 2 or D eq null",
        "Bs?$apply=aggregate(A/ID with sum as S,A/Place/Code with average as C,ID with sum as T)",
        "Bs?$apply=groupby((A/Place/City),aggregate(A/ID with average as S,A/Next/ID with sum as T))",
        "As?$apply=aggregate(Links/A/ID with sum as S)", "As?$apply=join(Links as J)/aggregate(J/ID with sum as S)",
        "As?$apply=join(Links as J)/groupby((Place/City),aggregate(J/A/ID with sum as S))",
        "As?$filter=Links/aggregate(A/ID with sum) ge ID",
        "Bs?$apply=aggregate(A/ID with sum from AID with average as S)",
        "As?$filter=D lt 'b' or D eq true", "As?$filter=D eq 0.25 or D eq 2024-01-01", "As?$filter=D gt Next/D",
        "As?$filter=cast(D,Edm.Decimal) gt 1 or cast(D,Edm.String) eq '4'",
    ]

    /// Queries that had different results before a fix, with the seeds of their samples.
    static let known: [(seed: UInt64, url: String)] = [
        (2, "As?$filter=(Nums/all(x:true) eq startswith(A0,Next/A0))"),
        (3, "Bs?$filter=((null gt null) eq startswith(cast(ID,Edm.String),B0))"),
        (3, "Bs?$apply=groupby((rollup(B5,A/A2)))"),
        (14, "As?$orderby=A5 desc"), (20, "Bs?$filter=(not (startswith(A/A0,A/A0)) ne true)"),
        (23, "Bs?$filter=((false ne B5) ne (true ne A/A7))"),
        (5278, "As?$apply=join(Bs as J1)/aggregate($count as R2,Bs/$count as R3)"),
        (5365, "As?$apply=outerjoin(Links as J1)/aggregate(Bs/ID with sum as R4,Links/ID with sum as R5)"),
        (849, "As?$apply=groupby((Place/City),identity)"),
        (849, "As?$apply=groupby((Place/City,Next/Place/City),identity)"),
        (849, "As?$apply=concat(groupby((Place/City),identity),groupby((Place/City),aggregate($count as R)))"),
        (849, "As?$apply=groupby((rolluprecursive($root/As,H,ID),Place/City),identity)"),
        (
            849,
            """
            As?$apply=groupby((rolluprecursive($root/As,H,ID)),aggregate($count as R))/groupby((Place/City),identity)
            """
        ),
    ]
}
