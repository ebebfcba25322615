import ODataClient
import ODataModel
import ODataService
import OfflineOData

/// The room that the rows of a service will take on the disk.
enum RoomEstimate {
    /// The bytes of a row of which nothing is known.
    private static let unknownRow: Int64 = 1000
    /// The bytes that a row takes besides its values: its number, keys in indexes and its membership in a query.
    private static let overhead: Int64 = 100
    /// The number of rows that are asked for.
    private static let sampleSize = 100

    /// Returns the bytes of all rows without looking at one.
    static func guess(_ survey: ServiceSurvey) -> Int64 { product(Int64(survey.rows), unknownRow) }

    /// Returns the bytes of all rows by the first ones of each query.
    static func measured(_ survey: ServiceSurvey, _ client: ODataClient) async -> Int64 {
        var sum: Int64 = 0
        for part in survey.parts {
            guard let rows = part.rows, rows > 0 else { continue }
            let (total, overflows) = sum.addingReportingOverflow(
                product(Int64(rows), await rowSize(of: part.query, client) ?? unknownRow))
            sum = overflows ? .max : total
        }
        return sum
    }

    /// Returns the mean size of the first rows; `nil` if the service does not answer with rows.
    private static func rowSize(of query: DefiningQuery, _ client: ODataClient) async -> Int64? {
        var url = query.url
        url.options.top = min(url.options.top ?? sampleSize, sampleSize)
        guard case .page(let page)? = try? await client.execute(ODataRequest(.read, url)).body, !page.entities.isEmpty
        else { return nil }
        return page.entities.reduce(0) { $0 + size(of: $1) } / Int64(page.entities.count) + overhead
    }

    private static func size(of entity: ODataEntity) -> Int64 {
        var sum = entity.shape.properties.indices.reduce(Int64(0)) { $0 + (entity.values[$1].map(size) ?? 0) }
        for value in entity.dynamicProperties.values { sum += size(of: value) }
        for case .one(let other) in entity.related.values { sum += size(of: other) }
        for case .many(let others, _, _) in entity.related.values { sum += others.reduce(0) { $0 + size(of: $1) } }
        return sum
    }

    private static func size(of value: ODataValue) -> Int64 {
        switch value {
        case .complex(let entity): size(of: entity)
        case .collection(let members): members.reduce(2) { $0 + size(of: $1) }
        case .binary(let bytes): Int64(bytes.count)
        default: Int64((value.lexicalText?.utf8.count ?? 0) + 1)
        }
    }

    private static func product(_ rows: Int64, _ bytes: Int64) -> Int64 {
        let (product, overflows) = rows.multipliedReportingOverflow(by: bytes)
        return overflows ? .max : product
    }
}
