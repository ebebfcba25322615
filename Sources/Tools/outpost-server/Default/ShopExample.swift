import Foundation
import GRDB
import MobileServer
import ODataService
import ServerState

/// The application of a server without configuration: a shop in a SQLite file.
enum ShopExample {
    /// The name of the application.
    static let name = "shop"
    /// The name of the file in the data folder.
    static let fileName = "shop.db"

    /// The configuration of the application.
    static var configuration: ApplicationConfiguration {
        var application = ApplicationConfiguration()
        application.title = "Shop"
        application.security = ["guest": SecurityConfiguration(kind: .anonymous)]
        var destination = DestinationConfiguration(url: fileName)
        destination.kind = .sqlite
        for set in ["Categories", "Products", "Customers", "Orders"] {
            var query = QueryConfiguration(set)
            query.visibility = .shared
            query.tracking = "compare"
            query.refreshInterval = .seconds(60)
            query.maxStale = .seconds(5)
            destination.queries[set] = query
        }
        application.destinations = ["shop": destination]
        return application
    }

    /// Writes the database, unless the file exists.
    static func write(to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let temporary = path + ".new"
        try? FileManager.default.removeItem(atPath: temporary)
        let queue = try DatabaseQueue(path: temporary)
        try queue.write { try $0.execute(sql: tables + rows) }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: temporary)
        try FileManager.default.moveItem(atPath: temporary, toPath: path)
    }

    private static let tables = """
        create table Categories (CategoryID integer primary key, Name text not null);
        create table Products (ProductID integer primary key, Name text not null,
          CategoryID integer not null references Categories, Price real not null, Stock integer not null default 0);
        create table Customers (CustomerID text primary key not null, Name text not null, City text);
        create table Orders (OrderID integer primary key, CustomerID text not null references Customers,
          ProductID integer not null references Products, Quantity integer not null, OrderedOn text not null);

        """

    private static let rows = """
        insert into Categories values (1, 'Beverages'), (2, 'Cheese'), (3, 'Bread'), (4, 'Fruit');
        insert into Customers values ('ALFKI', 'Alfreds Futterkiste', 'Berlin'),
          ('BERGS', 'Berglunds snabbköp', 'Luleå'),
          ('CHOPS', 'Chop-suey Chinese', 'Bern'), ('ERNSH', 'Ernst Handel', 'Graz'),
          ('FAMIA', 'Familia Arquibaldo', 'São Paulo');
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 120)
          insert into Products select i, 'Product ' || i, 1 + i % 4, 1 + (i * 37 % 200) / 4.0, i * 13 % 90 from n;
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
          insert into Orders select 10000 + i,
          case i % 5 when 0 then 'ALFKI' when 1 then 'BERGS' when 2 then 'CHOPS' when 3 then 'ERNSH' else 'FAMIA' end,
          1 + i * 7 % 120, 1 + i % 9, date('2026-01-01', '+' || (i % 300) || ' days') from n;
        """
}
