"""documents.py WORKLOAD DOCUMENTS OPERATIONS: a document database of dicts, as a reference."""

import json
import os
import sys
import tempfile

import record

AGES = 90
NEW_AGES = 100
STRIDE = 7919


class Database:
    """Documents by their number; what goes in is copied."""

    def __init__(self):
        self.documents = {}

    @classmethod
    def load(cls, path):
        database = cls()
        with open(path, encoding="utf-8") as file:
            database.insert_many(json.load(file))
        return database

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(self.documents.values()), file)

    def insert_many(self, documents):
        total = 0
        for document in documents:
            copy = dict(document)
            self.documents[copy["id"]] = copy
            total += copy["age"]
        return total

    def get(self, number):
        return dict(self.documents[number])

    def find(self, field, value):
        return [d for d in self.documents.values() if d.get(field) == value]

    def update(self, number, **fields):
        document = self.documents[number]
        document.update(fields)
        return document

    def delete(self, number):
        return self.documents.pop(number)


def make_document(number):
    return {
        "id": number,
        "name": f"user-{number}",
        "age": number % AGES,
        "city": f"city-{number % 50}",
        "tags": ["a", "b"],
        "active": True,
    }


class World:
    """What stands before READY, and the operations that are timed."""

    def __init__(self, name, count):
        self.count = count
        self.given = [make_document(number) for number in range(count)]
        self.database = Database()
        self.path = None
        if name != "insert_many":
            self.database.insert_many(self.given)
        if name == "open_load":
            handle, self.path = tempfile.mkstemp(prefix="documents-", dir=".")
            os.close(handle)
            self.database.save(self.path)

    def close(self):
        if self.path:
            os.unlink(self.path)

    def chosen(self, k):
        return k * STRIDE % self.count

    def get(self, k):
        return self.database.get(self.chosen(k))["age"]

    def find(self, k):
        return sum(document["id"] for document in self.database.find("age", k % AGES))

    def open_load(self, _):
        return sum(d["age"] for d in Database.load(self.path).documents.values())

    def update(self, k):
        return self.database.update(self.chosen(k), age=k % NEW_AGES)["age"]

    def delete(self, k):
        return self.database.delete(self.chosen(k))["age"]

    def run(self, name, operations):
        if name == "insert_many":
            return self.database.insert_many(self.given)
        operate = getattr(self, name)
        return sum(operate(k) for k in range(operations))


def main():
    name, count, operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    world = World(name, count)
    record.start(f"READY document-db {name} {count} {operations}", f"GO document-db {name}")
    record.finish(f"DONE document-db {name} {operations} {world.run(name, operations)}")
    world.close()


if __name__ == "__main__":
    main()
