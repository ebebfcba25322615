import ODataModel
import Testing

@testable import ODataQuery

/// Examples for the rules of *OData ABNF Construction Rules 4.01* and of the aggregation extension, with accepted
/// and refused texts.
@Suite("Grammar, rule by rule")
struct GrammarTests {
    /// A text, and the last character at which it may be refused.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: String
        let latest: Int
        init(_ text: String, _ latest: Int) { (self.text, self.latest) = (text, latest) }
        var testDescription: String { text }
    }

    @Test(
        "Resource paths are read",
        arguments: [
            "$batch", "$batch?$format=json", "$metadata#Orders(ID,Name)", "$metadata?$format=xml",
            "$entity?$id=Orders(1)", "$entity/Shop.Order?$id=Orders(1)&$select=ID", "Orders", "Orders('x')",
            "Orders(@k)?@k=1", "Orders(A=1,B=@b)?@b=2", "Orders/1/Items/2", "Orders/Shop.Big/$count",
            "Orders/$filter(Total gt 1)/$each/Shop.Close", "Orders(1)/Items/$ref", "Orders(1)/Photo/$value",
            "Orders(1)/Tags/0", "Orders(1)/Tags/-1", "Orders(1)/Address/Shop.Place/City", "Orders/$query",
            "$crossjoin(Orders,Items)", "$crossjoin(Orders)/$query", "$all", "$all/Shop.Order",
            "Nearby(city='a',radius=@r)(1)?@r=1", "Me/Shop.Best(Rank=1)/Name/$value",
            "Orders(22:53:60)", "Orders(2016-12-31T23:59:60Z)", "Orders(duration'PT1M')", "Orders(Shop.Kind'A,B')",
        ])
    func paths(text: String) throws {
        let url = try ODataURL(parsing: text)
        #expect(try ODataURL(parsing: url.description) == url)
    }

    @Test(
        "Query options are read",
        arguments: [
            "$compute=Price mul 2 as Double,Name as N", "compute=now() as T", "$expand=$value,Items", "EXPAND=*/$ref",
            "$expand=*($levels=max)", "$expand=Items/$ref($skip=1;$top=2;$orderby=ID)",
            "$expand=Items/$count($filter=A eq 1;$search=x)", "$expand=Shop.Big/Items(@a=1;$filter=ID eq @a)",
            "$expand=@Shop.Term/Items", "$expand=Address/Country($levels=3)", "$orderby=A desc,B asc,C",
            "$top=0&skip=1", "$index=-2", "index=0", "$format=application/json;metadata=full", "$count=TRUE",
            "$schemaversion=*", "$schemaversion=1.0-a_b~c", "$search=a OR \"b c\" AND NOT (d e)",
            "$search='still typing'",
            "$search=NOT", "$select=*,Shop.*,A/B,Tags($top=2;$orderby=$it desc),Shop.F(a,b),@Core.X",
            "$select=Address($select=City;$compute=1 as One)", "$skiptoken=a=b", "$deltatoken=%26", "@a=[1,\"x\",{}]",
            "@a= {\"b\": [1, {\"c\":null}]}", "name=anything", "!odd=1&flag", "$apply=identity&$top=1",
        ])
    func options(text: String) throws {
        let options = try QueryOptions(parsing: text)
        #expect(try QueryOptions(parsing: options.description) == options)
    }

    @Test("An empty search is incomplete")
    func emptySearch() throws {
        #expect(try QueryOptions(parsing: "$search=''").search == nil)
        #expect(try QueryOptions(parsing: "$apply=search('')").apply == [.identity])
    }

    @Test(
        "Expressions are read",
        arguments: [
            "A add -B mul 2 ge 1.5e3", "not (A eq 1) and not B", "A in (1,2)", "A in ()", "A in [1,2]",
            "A in $it/Tags", "A in -B", "A has Shop.Kind'X'", "A has 'X'", "Items/$count gt 1",
            "Items/$count($filter=A eq 1;$search=b) eq 1", "Items/any()", "Items/any(i:i/A eq $it/B)",
            "Items/all( i : i/A eq 1 )", "Items/$filter(A eq 1)/$count eq 1", "Items/$filter(A eq 1)(2)/A eq 1",
            "Items(1)/A eq 1", "Items(A=1,B='x')/C eq 1", "$root/Orders(1)/A eq B", "$root/Orders/1/A eq B",
            "$root/Nearby(city='x')/$count eq 1", "Shop.Big/Items/$count eq 0", "Items/Shop.Big(1)/A eq 1",
            "Address/Shop.Place/City eq 'x'", "@Core.Term#q eq 1", "Name/@Core.Term eq 1", "@a/City eq 1",
            "$this gt 1", "cast(A,Edm.String) eq '1'", "isof(Shop.Big)", "isof(A,Collection(Edm.Int32))",
            "Shop.Best(Rank=1)/Name eq 'x'", "Best(Items=$it/Items,B=[\"x\"])(1)/Name eq 'x'",
            "case(A eq 1:'x',true:'y') eq 'x'", "hassubset(Tags,[\"a\"])",
            "geo.distance(W,geography'SRID=0;Point(1 2)') lt 1",
            "matchesPattern(A,'^a')", "concat(concat(A,','),B) eq 'x'", "now() gt 2020-01-01T00:00:60Z",
            "A divby 2 eq 1", "substring(A,1,2) eq ''", " {\"a\":1} eq null", " [1] eq Tags",
            "isdefined(A/B)", "Items/aggregate(A with sum) gt 1", "$these/aggregate($count) gt 1",
        ])
    func expressions(text: String) throws {
        let expression = try CommonExpression(parsing: text)
        #expect(try CommonExpression(parsing: expression.description) == expression)
    }

    @Test(
        "Transformations are read",
        arguments: [
            "aggregate(A with sum as B,$count as C,Items/A with Shop.median as D,Forecast)",
            "aggregate(Forecast from Time with average as F)", "aggregate(A with sum from B with max as C)",
            "groupby((A,B/C,rollup(D,E/F)),aggregate($count as N))", "groupby((rollup(Levels)))",
            "groupby((rolluprecursive($root/Orgs,H,Org/ID)),aggregate(A with sum as T))",
            "groupby((rolluprecursive($root/Orgs,H,Org/ID,descendants($root/Orgs,H,ID,filter(ID eq 1),keep start))))",
            "filter(A eq 1)/orderby(B desc,C)/top(1)/skip(2)/identity", "topcount(2,A)/bottompercent(10.5,B)",
            "topsum($these/aggregate(A with sum),A)", "concat(identity,aggregate($count as N)/compute(N mul 2 as M))",
            "join(Items as I,filter(A eq 1))/outerjoin(Details as D)", "nest(groupby((A)) as B,identity as C)",
            "addnested(Items/Shop.Big,top(1) as First)", "search(a OR b)", "expand(Items,filter(A eq 1))",
            "ancestors($root/Orgs,H,ID,filter(A eq 1),2,keep start)",
            "descendants($root/Orgs/$filter(A eq 1),H,ID,search(x)/top(1),keep start)",
            "traverse($root/Orgs,H,ID,preorder,filter(A eq 1),A desc)", "traverse($root/Orgs,H,ID,postorder)",
            "Shop.Condense(a=1)",
        ])
    func transformations(text: String) throws {
        let options = try QueryOptions(parsing: "$apply=" + text)
        #expect(try QueryOptions(parsing: options.description) == options)
    }

    @Test(
        "A syntax error is reported at its place or before",
        arguments: [
            Refusal("$crossjoin()", 11), Refusal("Orders((1))", 7), Refusal("Orders(A eq 1)", 8),
            Refusal("Orders(1", 8), Refusal("Orders(A=)", 9), Refusal("Orders//Items", 7), Refusal("/Orders", 0),
            Refusal("$nothing#x", 0), Refusal("Orders#x", 6),
            Refusal("Orders?$filter=", 15), Refusal("Orders?$filter=A eq", 19), Refusal("Orders?$filter= A", 16),
            Refusal("Orders?$filter=A eq 1 andd B", 26), Refusal("Orders?$filter=any()", 18),
            Refusal("Orders?$filter=Items/any(A eq 1)", 26), Refusal("Orders?$filter=Items/all()", 25),
            Refusal("Orders?$filter=$root", 20), Refusal("Orders?$filter=$them", 15),
            Refusal("Orders?$filter=A in (1,2", 24), Refusal("Orders?$filter=cast(A)x", 22),
            Refusal("Orders?$filter=case(A)", 21), Refusal("Orders?$filter='x", 17),
            Refusal("Orders?$filter=duration'x' eq A", 24), Refusal("Orders?$filter=geography'Pint(1 2)' eq A", 26),
            Refusal("Orders?$orderby=A,", 18), Refusal("Orders?$orderby=A descending", 22),
            Refusal("Orders?$select=", 15), Refusal("Orders?$select=A b", 16), Refusal("Orders?$select=A()b", 18),
            Refusal("Orders?$expand=*/A", 16), Refusal("Orders?$expand=*($=1)", 17),
            Refusal("Orders?$expand=A($levels=0)", 25), Refusal("Orders?$expand=A($top=1;)", 24),
            Refusal("Orders?$expand=A/$ref($select=B)", 29), Refusal("Orders?$expand=A/$count($top=1)", 28),
            Refusal("Orders?$expand=A($skip=1", 24), Refusal("Orders?$compute=A", 17),
            Refusal("Orders?$compute=A as", 20),
            Refusal("Orders?$top=-1", 12), Refusal("Orders?$top=x", 12), Refusal("Orders?$skip=", 13),
            Refusal("Orders?$count=1", 14), Refusal("Orders?$index=1.5", 15), Refusal("Orders?$nope=1", 7),
            Refusal("Orders?$search=\"a", 17), Refusal("Orders?$search=(a", 17), Refusal("Orders?$search=a)", 16),
            Refusal("Orders?@a={\"b\"}", 14), Refusal("Orders?@a=[1,]", 13),
            Refusal("Orders?$apply=aggregate(A with)", 30),
            Refusal("Orders?$apply=groupby(A)", 22), Refusal("Orders?$apply=concat(identity)", 29),
            Refusal("Orders?$apply=nest(identity)", 27), Refusal("Orders?$apply=top(-1)", 18),
            Refusal("Orders?$apply=identity/", 23), Refusal("Orders?$apply=ancestors(Orgs,H,ID,identity)", 24),
            Refusal("Orders?$apply=traverse($root/Orgs,H,ID,inorder)", 39),
            Refusal("Orders?$apply=join(Items)", 24), Refusal("Orders?$schemaversion=1 0", 23),
        ])
    func refusals(refusal: Refusal) {
        let error = #expect(throws: QueryError.self) { try ODataURL(parsing: refusal.text) }
        let offset = error?.offset ?? .max
        #expect(offset <= refusal.latest, "\(offset): \(error?.description ?? "")")
    }

    @Test(
        "Context URLs are read",
        arguments: [
            "Orders(1)/Items/$entity", "Orders(P1D)/Items", "Orders(-P1D)/Shop.Big/Items(*)",
            "Orders(A=PT1.5S,B=1)/Items",
            "Orders(Yellow)/Items/$delta", "Collection($ref)", "Orders(A,B+,C(D))", "Collection(Edm.EntityType)",
        ])
    func contexts(text: String) throws {
        let context = try ContextURL(parsing: text)
        #expect(try ContextURL(parsing: context.description) == context)
    }

    @Test("Header values are accepted in both spellings")
    func headers() throws {
        #expect(try Preference(parsing: "omit-values=NULLS") == .omitValues(.nulls))
        #expect(
            try Preference(parsing: "include-annotations=\"%2A,-Shop.%2A#q\"")
                == Preference(parsing: "include-annotations=\"*,-Shop.*#q\""))
        #expect(throws: QueryError.self) { try Preference(parsing: "return=Minimal") }
    }
}
