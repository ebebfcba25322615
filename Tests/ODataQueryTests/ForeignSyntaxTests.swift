import ODataModel
import TestModels
import Testing

@testable import ODataQuery

@Suite("Advice for queries in other languages")
struct ForeignSyntaxTests {
    /// A query with the marked text and the advice that its error must give.
    struct Row: Sendable, CustomTestStringConvertible {
        let query: String
        let marked: String
        let advice: String
        init(_ query: String, _ marked: String, _ advice: String) {
            (self.query, self.marked, self.advice) = (query, marked, advice)
        }
        var testDescription: String { query }
    }

    private let model: EntityDataModel

    init() throws { model = try ShopModel.make() }

    private func error(_ query: String) -> QueryError? {
        do throws(QueryError) {
            _ = try Binder(model: model).bind(try ODataURL(parsing: query))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "An operator of another language is marked, and the OData word is suggested",
        arguments: [
            Row("Orders?$filter=Freight > 100", ">", "Write gt for >."),
            Row("Orders?$filter=Freight>100", ">", "Write gt for >."),
            Row("Orders?$filter=Freight >= 100", ">=", "Write ge for >=."),
            Row("Orders?$filter=Freight < 100", "<", "Write lt for <."),
            Row("Orders?$filter=Freight <= 100", "<=", "Write le for <=."),
            Row("Orders?$filter=Freight <> 100", "<>", "Write ne for <>."),
            Row("Orders?$filter=Freight = 1997", "=", "Write eq for =."),
            Row("Orders?$filter=ShipCity == 'Germany'", "==", "Write eq for ==."),
            Row("Orders?$filter=ShipCity != 'Germany'", "!=", "Write ne for !=."),
            Row("Orders?$filter=Freight gt 100 && Freight lt 5", "&", "Write and for &&"),
            Row("Orders?$filter=Freight gt 100 || Freight lt 5", "||", "Write or for ||."),
            Row("Orders?$filter=Freight + 5 gt 1", "+", "Write add for +."),
            Row("Orders?$filter=Freight - 5 gt 1", "-", "Write sub for -."),
            Row("Orders?$filter=Freight*2 gt 1", "*", "Write mul for *."),
            Row("Orders?$filter=Freight / 2 gt 1", "/", "Write div for /."),
            Row("Orders?$filter=Freight % 2 eq 1", "%", "Write mod for %."),
            Row("Orders?$filter=(Freight > 100)", ">", "Write gt for >."),
            Row("Orders?$filter=round(Freight > 100)", ">", "Write gt for >."),
            Row("Orders?$filter=!(Freight gt 100)", "!", "Write not for !."),
            Row("Orders?$filter=Freight equals 100", "equals", "Write eq for equals."),
            Row("Orders?$orderby=Freight descending", "descending", "Write desc for descending."),
            Row("Orders?$orderby=Freight ascending", "ascending", "Write asc for ascending."),
            Row("Orders?$filter=ShipCity contains 'chop'", "contains", "Write contains(ShipCity,'chop')."),
            Row("Orders?$filter=ShipCity like '%chop%'", "like", "Write contains(ShipCity,'chop')."),
            Row("Orders?$filter=ShipCity LIKE 'chop'", "LIKE", "Write contains(ShipCity,'chop')."),
            Row("Orders?$filter=ShipCity startsWith 'a'", "startsWith", "Write startswith(ShipCity,'a')."),
            Row("Orders?$filter=Freight between 1 and 5", "between", "Write Freight ge 1 and Freight le 5."),
            Row("Orders?$filter=ShipCity is null", "is", "Write ShipCity eq null."),
            Row("Orders?$filter=ShipCity is not null", "is", "as in ShipCity ne null."),
            Row("Orders?$filter=Freight not in (1,2)", "not", "Write not before the condition"),
            Row("Orders?$filter=Freight gt 5 order by Freight", "order", "Write $orderby= for order."),
            Row("Orders?$filter=Freight gt", "gt", "A value must follow gt."),
            Row("Orders where Freight gt 5", "where", "Write Orders?$filter= for where."),
            Row("select * from Orders", "select", "Begin with the entity set"),
        ])
    func operators(row: Row) throws { try expect(row) }

    @Test(
        "Texts with wrong or no quotes, and numbers with a comma, get the OData spelling",
        arguments: [
            Row("Orders?$filter=ShipCity eq \"Germany\"", "\"", "A text stands in single quotes: 'Germany'."),
            Row("Orders?$filter=ShipCity eq “Germany”", "“", "A text stands in single quotes: 'Germany'."),
            Row("Orders?$filter=ShipCity eq ‘Germany’", "‘", "A text stands in single quotes: 'Germany'."),
            Row("Orders?$filter=ShipCity eq `Germany`", "`", "a text in single quotes"),
            Row("Orders?$filter=ShipCity eq Germany", "Germany", "A text stands in single quotes: 'Germany'."),
            Row("Orders?$filter=ShipCity in (Germany,France)", "Germany", "A text stands in single quotes: 'Germany'."),
            Row("Orders?$filter=contains(ShipCity,chop)", "chop", "A text stands in single quotes: 'chop'."),
            Row("Orders?$filter=ShipCity eq NULL", "NULL", "Write null."),
            Row("Orders?$filter=ShipCity eq None", "None", "Write null."),
            Row("Orders?$filter=ShipCity eq 'O'Reilly'", "Reilly", "Double the quote in a text: 'O''Reilly'."),
            Row("Orders?$filter=Freight gt 100,5", ",", "Write a decimal point: 100.5."),
            Row("Orders?$filter=ShipCity eq 5", "ShipCity", "A text stands in single quotes: '5'."),
            Row("Orders?$filter=Freight gt '5'", "Freight", "Write it without quotes: 5."),
            Row("Orders?$filter=ShipCity eq '50%'", "%", "Write %25 for the character %."),
        ])
    func values(row: Row) throws { try expect(row) }

    @Test(
        "Paths, functions and options of other languages get the OData names",
        arguments: [
            Row("Orders?$filter=Customer.Country eq 'x'", "Customer.", "Write Customer/Country."),
            Row("Orders?$orderby=Customer.Country", "Customer.", "Write Customer/Country."),
            Row("Orders?$limit=2", "$limit", "Write $top instead."),
            Row("Orders?$distinct", "$distinct", "Write $apply=groupby((…)) instead."),
            Row("Orders?$groupby=ShipCity", "$groupby", "Write $apply=groupby((…)) instead."),
            Row("Orders?$where=Freight gt 5", "$where", "Write $filter instead."),
            Row("Orders?$offset=2", "$offset", "Write $skip instead."),
            Row("Orders?$filter=lower(ShipCity) eq 'x'", "lower", "Write tolower for lower."),
            Row("Orders?$filter=substr(ShipCity,1) eq 'x'", "substr", "Write substring for substr."),
            Row("Orders?=Freight gt 900&=2", "=", "replaced by a shell: use single quotes"),
            Row("Orders[1]", "[", "as in Orders(1)."),
            Row("Orders&$top=2", "&", "Write ? before the first query option."),
        ])
    func names(row: Row) throws { try expect(row) }

    private func expect(_ row: Row) throws {
        let error = try #require(self.error(row.query), "\(row.query) is accepted")
        #expect(error.description.contains(row.advice), "\(error)")
        let rest = row.query.dropFirst(error.offset ?? 0)
        #expect(rest.hasPrefix(row.marked), "marked is \(rest); \(error)")
        #expect(!error.message.contains("found a space"), "\(error)")
    }

    @Test("A space at the end of a condition is named as the mistake")
    func trailingSpace() throws {
        let error = try #require(self.error("Orders?$filter=Freight gt 5 "))
        #expect(error.description.contains("Remove the space at the end."), "\(error)")
        #expect(error.offset == 27)
    }

    @Test("No further advice is given for a misspelt property name")
    func misspelt() throws {
        let error = try #require(self.error("Orders?$orderby=Frieght"))
        #expect(error.hint == nil && error.suggestions == ["Freight"], "\(error)")
    }
}
