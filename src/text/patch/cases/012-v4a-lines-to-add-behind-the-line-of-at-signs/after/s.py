class Store:
    def __init__(self, path):
        self.path = path

    def load(self):
        # Read it.
        with open(self.path) as file:
            return file.read()

    def save(self, text):
        with open(self.path) as file:
            file.write(text)
