import ODataModel

/// Makes the same collection every time: decimals, dates with and without fractions, escapes, letters of several
/// scripts, nulls, and members in three different orders.
struct Generator {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var id = 0

    private mutating func next(_ limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(truncatingIfNeeded: state >> 33) % limit
    }

    private mutating func pick(_ texts: [String]) -> String { texts[next(texts.count)] }

    private mutating func two(_ limit: Int) -> String {
        let number = next(limit)
        return number < 10 ? "0\(number)" : "\(number)"
    }

    private mutating func date() -> String { "\(1996 + next(30))-0\(1 + next(9))-\(10 + next(18))" }

    private mutating func instant() -> String {
        let fraction = next(4) == 0 ? ".\(100 + next(900))" : ""
        let offset = next(3) == 0 ? "+0\(1 + next(9)):00" : "Z"
        return "\(date())T\(two(24)):\(two(60)):\(two(60))\(fraction)\(offset)"
    }

    private mutating func hex(_ count: Int) -> String {
        let digits = String(next(1 << 30) + (1 << 30), radix: 16) + String(next(1 << 30) + (1 << 30), radix: 16)
        return String(digits.prefix(count))
    }

    /// The members of one order, each as `"Name":value`.
    private mutating func members() -> [String] {
        id += 1
        let comment =
            next(3) == 0
            ? "null"
            : "\"\(pick(["Leave at the door.\\nRing twice.", "said \\\"soon\\\"", "c:\\\\temp\\tx", "—", "Bitte nicht stürzen, zerbrechlich \\u2014 danke"]))\""
        return [
            "\"OrderID\":\(10_000 + id)",
            "\"CustomerID\":\"\(pick(["ALFKI", "ANATR", "BLONP", "CHOPS", "WELLI"]))\"",
            "\"EmployeeID\":\(next(8) == 0 ? "null" : "\(next(1000))")",
            "\"OrderDate\":\"\(instant())\"",
            "\"RequiredDate\":\(next(9) == 0 ? "null" : "\"\(date())\"")",
            "\"ShippedDate\":\(next(5) == 0 ? "null" : "\"\(instant())\"")",
            "\"Freight\":\(next(2000)).\(next(10))\(next(10))\(1 + next(9))",
            "\"Discount\":\(next(4) == 0 ? "null" : "0.\(1 + next(99))")",
            "\"ShipName\":\"\(pick(["Toms Spezialitäten", "Hanari Carnes", "Victuailles en stock", "Suprêmes délices", "Wellington Importadora", "東京商店"]))\"",
            "\"ShipAddress\":\"\(pick(["Luisenstr. 48", "Rua do Paço, 67", "2, rue du Commerce", "Boulevard Tirou, 255", "59 rue de l'Abbaye, bâtiment C, 3e étage"]))\"",
            "\"Comment\":\(comment)",
            "\"IsPaid\":\(next(2) == 0 ? "true" : "false")",
            "\"Tag\":\"\(hex(8))-\(hex(4))-\(hex(4))-\(hex(4))-\(hex(12))\"",
        ]
    }

    /// One order as an object.
    mutating func row() -> String {
        var members = members()
        switch id % 16 {
        case 5: members.reverse()
        case 11: members.swapAt(2, 9)
        default: break
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// The beginning of a collection.
    static let head = #"{"@odata.context":"http://localhost/$metadata#Orders","value":["#
    /// Its end.
    static let tail = #"],"@odata.nextLink":"Orders?$skiptoken=1"}"#

    /// A collection of about `size` bytes.
    static func collection(size: Int) -> [UInt8] {
        var generator = Generator()
        var bytes: [UInt8] = Array(head.utf8)
        bytes.reserveCapacity(size + 1024)
        while bytes.count < size {
            if bytes.count > head.utf8.count { bytes.append(UInt8(ascii: ",")) }
            bytes += generator.row().utf8
        }
        return bytes + Array(tail.utf8)
    }
}
